import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';

/** A value and its field. */
export interface Placed {
  readonly at: string;
  readonly value: string;
}

/** One validation error for each value that an earlier field has, too. */
export function repeated(values: readonly Placed[]): readonly InvalidInput[] {
  const seen = new Map<string, string>();
  return values.flatMap(({ at, value }) => {
    const first = seen.get(value);
    seen.set(value, first ?? at);
    if (first === undefined) return [];
    return [{ field: at, value, reason: `is the same as ${first}`, remedy: 'remove one of them' }];
  });
}
