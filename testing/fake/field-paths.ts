import { copyOf, isFields, type Fields } from './stored-object.ts';

/** One field of an object: steps such as `f:spec`, `k:{"name":"a"}` (item of an associative list) or `v:"x"` (member of a set). */
export type FieldPath = string;

const separator = '\0';

/** Lists whose items have an identity, by the name of the field that holds them. */
const associative: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  ephemeralContainers: ['name'],
  env: ['name'],
  volumes: ['name'],
  volumeMounts: ['mountPath'],
  imagePullSecrets: ['name'],
  conditions: ['type'],
  ownerReferences: ['uid'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  hostAliases: ['ip'],
  webhooks: ['name'],
};
/** Lists of those whose items are replaced as a whole. */
const atomicItems = new Set(['ownerReferences', 'imagePullSecrets']);
const sets = new Set(['finalizers']);
const atomicMaps = new Set([
  'selector',
  'nodeSelector',
  'labelSelector',
  'matchLabels',
  'secretKeyRef',
  'configMapKeyRef',
  'fieldRef',
  'namespaceSelector',
]);

/** The keys that identify items of this list, or `undefined` for a list that is replaced as a whole. */
function keysOf(field: string, items: readonly unknown[]): readonly string[] | undefined {
  const keys = field === 'ports' ? portKeys(items) : associative[field];
  if (keys === undefined || items.length === 0) return undefined;
  return items.every((item) => isFields(item) && keys.some((key) => item[key] !== undefined)) ? keys : undefined;
}

function portKeys(items: readonly unknown[]): readonly string[] {
  const first = items[0];
  return [isFields(first) && 'containerPort' in first ? 'containerPort' : 'port', 'protocol'];
}

function itemStep(item: unknown, keys: readonly string[]): string {
  const fields = isFields(item) ? item : {};
  return `k:${JSON.stringify(Object.fromEntries(keys.map((key) => [key, fields[key] ?? (key === 'protocol' ? 'TCP' : '')])))}`;
}

/** Every leaf of the object, and every item of an associative list, with its value as JSON. */
export function leaves(object: Fields): Map<FieldPath, string> {
  const found = new Map<FieldPath, string>();
  for (const [key, child] of Object.entries(object)) if (child !== undefined) collect(child, `f:${key}`, key, found);
  return found;
}

/** `field` is the name of the field that holds the value; empty for an item of a list. */
function collect(value: unknown, path: FieldPath, field: string, found: Map<FieldPath, string>): void {
  if (isFields(value)) {
    if (atomicMaps.has(field) || !collectFields(value, path, found)) found.set(path, JSON.stringify(value));
    return;
  }
  if (Array.isArray(value) && value.length > 0) {
    if (sets.has(field)) {
      for (const item of value) found.set(`${path}${separator}v:${JSON.stringify(item)}`, JSON.stringify(item));
      return;
    }
    const keys = keysOf(field, value);
    if (keys !== undefined) {
      for (const item of value) {
        const at = `${path}${separator}${itemStep(item, keys)}`;
        found.set(at, atomicItems.has(field) ? JSON.stringify(item) : 'item');
        if (!atomicItems.has(field)) collectFields(item as Fields, at, found);
      }
      return;
    }
  }
  found.set(path, JSON.stringify(value));
}

/** False when there are none. */
function collectFields(fields: Fields, path: FieldPath, found: Map<FieldPath, string>): boolean {
  let any = false;
  for (const key in fields) {
    any = true;
    const child = fields[key];
    if (child !== undefined) collect(child, `${path}${separator}f:${key}`, key, found);
  }
  return any;
}

/** The live value overlaid with the applied one: maps and associative lists by key, sets joined, all else replaced. */
export function overlay(live: unknown, applied: unknown, field = ''): unknown {
  if (isFields(live) && isFields(applied) && !atomicMaps.has(field)) {
    const merged: Fields = { ...live };
    for (const [key, value] of Object.entries(applied)) {
      if (value !== undefined) merged[key] = overlay(live[key], value, key);
    }
    return merged;
  }
  if (!Array.isArray(live) || !Array.isArray(applied)) return applied;
  if (sets.has(field)) return [...new Set<unknown>([...(live as unknown[]), ...(applied as unknown[])])];
  const keys = keysOf(field, applied);
  if (keys === undefined || keysOf(field, live) === undefined) return applied;
  const wanted = new Map(applied.map((item: unknown) => [itemStep(item, keys), item]));
  const kept = live.map((item: unknown) => {
    const next = wanted.get(itemStep(item, keys));
    wanted.delete(itemStep(item, keys));
    return next === undefined ? item : atomicItems.has(field) ? next : overlay(item, next);
  });
  return [...kept, ...wanted.values()];
}

/** A copy of the object without these fields; containers that become empty by it go as well. */
export function without(object: Fields, paths: Iterable<FieldPath>): Fields {
  const copy = copyOf(object);
  for (const path of paths) removeAt(copy, path.split(separator), '');
  return copy;
}

/** Removes one field below `value`; true when `value` has become empty by it. */
function removeAt(value: unknown, steps: readonly string[], field: string): boolean {
  const [step = '', ...rest] = steps;
  if (Array.isArray(value)) {
    const keys = keysOf(field, value) ?? [];
    const index = value.findIndex((item: unknown) =>
      step.startsWith('v:') ? step === `v:${JSON.stringify(item)}` : step === itemStep(item, keys),
    );
    if (index < 0) return false;
    if (rest.length === 0) value.splice(index, 1);
    else removeAt(value[index], rest, '');
    return value.length === 0;
  }
  const key = step.slice(2);
  if (!isFields(value) || !(key in value)) return false;
  if (rest.length === 0 || removeAt(value[key], rest, key)) Reflect.deleteProperty(value, key);
  return Object.keys(value).length === 0;
}

/** True when `path` lies below `ancestor`. */
export function isBelow(path: FieldPath, ancestor: FieldPath): boolean {
  return path.startsWith(ancestor + separator);
}

/** A set of fields as `fieldsV1` of managedFields. A field that is named itself besides fields below it has `.`, as a list's item has. */
export function fieldsV1(paths: Iterable<FieldPath>): Fields {
  const root: Fields = {};
  const named = new Set(paths);
  for (const path of named) {
    let at = root;
    let above = '';
    for (const step of path.split(separator)) {
      const isNamed = named.has(above);
      above = above === '' ? step : above + separator + step;
      if (isNamed) at['.'] = {};
      const next = at[step];
      at = isFields(next) ? next : (at[step] = {} as Fields);
    }
  }
  return root;
}
