import type { ObjectSample } from './object-metrics.ts';

const values: Readonly<Record<string, number>> = { True: 1, False: 0, Unknown: -1 };

/** The conditions of these types that an object has, as samples: 1 for True, 0 for False, -1 for Unknown. */
export function conditionSamples(
  conditions: readonly { readonly type: string; readonly status: string }[] | undefined,
  types: readonly string[],
): readonly ObjectSample[] {
  return (conditions ?? [])
    .filter(({ type }) => types.includes(type))
    .map(({ type, status }) => ({ value: values[status] ?? -1, labels: { type } }));
}
