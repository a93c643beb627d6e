import { fieldsV1, isBelow, leaves, overlay, without, type FieldPath } from './field-paths.ts';
import { isFields, omit, type Fields, type StoredObject } from './stored-object.ts';

/** Who wrote which fields of one object, as the server keeps it for server-side apply. */
export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  readonly subresource: string;
  readonly fields: ReadonlySet<FieldPath>;
}

export type Writer = Omit<Manager, 'fields'>;

const unowned = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'generateName',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
]);

/** The part of an object that can have an owner. */
function ownable(object: StoredObject): Fields {
  const rest = omit(object, 'apiVersion', 'kind', 'metadata');
  const meta = Object.fromEntries(Object.entries(object.metadata).filter(([key]) => !unowned.has(key)));
  return Object.keys(meta).length === 0 ? rest : { metadata: meta, ...rest };
}

/** For stored objects, whose fields do not change anymore. */
const known = new WeakMap<StoredObject, ReadonlyMap<FieldPath, string>>();

function leavesOf(object: StoredObject): ReadonlyMap<FieldPath, string> {
  const found = known.get(object) ?? leaves(ownable(object));
  known.set(object, found);
  return found;
}

const isWriter = (manager: Writer, writer: Writer): boolean =>
  manager.name === writer.name && manager.operation === writer.operation && manager.subresource === writer.subresource;

/**
 * Server-side apply with force: the applied fields win; fields that this writer owned and no longer applies are removed,
 * unless another manager owns them too.
 */
export function applyFields(
  live: StoredObject,
  applied: StoredObject,
  managers: readonly Manager[],
  writer: Writer,
): StoredObject {
  const wanted = ownable(applied);
  const named = new Set(leaves(wanted).keys());
  const before = managers.find((manager) => isWriter(manager, writer))?.fields ?? new Set<FieldPath>();
  const others = managers.filter((manager) => !isWriter(manager, writer)).flatMap((manager) => [...manager.fields]);
  const theirs = new Set(others);
  const merged = overlay(ownable(live), wanted) as Fields;
  const forgotten = [...before].filter(
    (path) => !named.has(path) && !theirs.has(path) && !others.some((other) => isBelow(other, path)),
  );
  return withFields(live, without(merged, forgotten));
}

function withFields(object: StoredObject, fields: Fields): StoredObject {
  const { metadata, ...rest } = fields;
  const fixed = Object.entries(object.metadata).filter(([key]) => unowned.has(key));
  const owned = isFields(metadata) ? metadata : {};
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    ...rest,
    metadata: { ...owned, ...Object.fromEntries(fixed) },
  };
}

/** The managers after a write that turned `before` into `after`; `applied` is what an applier named. */
export function managersAfter(
  managers: readonly Manager[],
  writer: Writer,
  write: { readonly before: StoredObject | undefined; readonly after: StoredObject; readonly applied?: StoredObject },
): readonly Manager[] {
  const old = write.before === undefined ? new Map<FieldPath, string>() : leavesOf(write.before);
  const now = leavesOf(write.after);
  const changed = new Set([...now].filter(([path, value]) => old.get(path) !== value).map(([path]) => path));
  const own = managers.find((manager) => isWriter(manager, writer))?.fields ?? [];
  const claimed = write.applied === undefined ? [...own, ...changed] : leaves(ownable(write.applied)).keys();
  const fields = new Set([...claimed].filter((path) => now.has(path)));
  const rest = managers
    .filter((manager) => !isWriter(manager, writer))
    .map((manager) => ({
      ...manager,
      fields: new Set([...manager.fields].filter((path) => now.has(path) && !changed.has(path))),
    }));
  return [...rest, { ...writer, fields }].filter((manager) => manager.fields.size > 0);
}

/** The managers as `metadata.managedFields`. */
export function managedFields(
  managers: readonly Manager[],
  apiVersion: string,
  time: string,
): StoredObject['metadata']['managedFields'] {
  return managers.map((manager) => ({
    manager: manager.name,
    operation: manager.operation,
    apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: JSON.parse(JSON.stringify(fieldsV1(manager.fields))) as Record<string, never>,
    ...(manager.subresource === '' ? {} : { subresource: manager.subresource }),
  }));
}
