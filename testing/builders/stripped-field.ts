import { konnectivityAddon } from './konnectivity-addon.ts';
import { isFields } from '../fake/stored-object.ts';
import { workerBootstrapAddon } from './worker-bootstrap-addon.ts';

/** What the API server puts in the place of a field that is not given, below `spec.addons`. */
const defaults: Readonly<Record<string, unknown>> = {
  konnectivity: konnectivityAddon(),
  // Its author names the provider himself.
  workerBootstrap: { ...workerBootstrapAddon(), provider: undefined },
};

function without(value: unknown, path: readonly string[], byDefault: unknown): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return byDefault;
  if (head === '[]') return Array.isArray(value) ? value.map((item) => without(item, rest, undefined)) : value;
  if (!isFields(value) || !(head in value)) return value;
  const left = without(value[head], rest, isFields(byDefault) ? byDefault[head] : undefined);
  const others = Object.fromEntries(Object.entries(value).filter(([name]) => name !== head));
  return left === undefined ? others : { ...others, [head]: left };
}

/**
 * The spec as if its author had not given the field that the environment variable STRIPPED_FIELD names, such as
 * `spec.controlPlane.gateway.parentRefs[].name`: a test that shows the effect of the field fails then.
 */
export function strippedSpec<T>(spec: T): T {
  const field = process.env.STRIPPED_FIELD;
  if (field === undefined || field === '') return spec;
  const path = field.replaceAll('[]', '.[]').split('.').slice(1);
  // A list whose items are values is one field.
  const whole = path.at(-1) === '[]' ? path.slice(0, -1) : path;
  return without(spec, whole, { addons: defaults }) as T;
}
