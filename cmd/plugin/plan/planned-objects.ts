import type { Resource } from '../../../api/meta.ts';
import { fieldChanges } from './field-changes.ts';
import type { PlannedObject } from './plan-result.ts';
import type { Contents } from './planned-cluster.ts';

/** What the change itself is about, and what lives with an object. */
const skipped: ReadonlySet<string> = new Set(['TenantControlPlane', 'StewardControlPlane', 'Event']);

/** The objects that differ between two states of a cluster, by kind and name. */
export function plannedObjects(
  where: PlannedObject['where'],
  before: Contents,
  after: Contents,
): readonly PlannedObject[] {
  const found = [...after].flatMap(([id, { kind, original, present: now }]): readonly PlannedObject[] => {
    if (skipped.has(kind.kind)) return [];
    const known = before.get(id);
    const old = known === undefined ? original : known.present;
    const object: Resource | undefined = now ?? old;
    if (object === undefined) return [];
    const { apiVersion, metadata } = object;
    const { namespace, name } = metadata;
    const named = { where, apiVersion, kind: kind.kind, ...(namespace !== undefined && { namespace }), name };
    if (old === undefined) return [{ action: 'create', ...named, fields: [] }];
    if (now === undefined) return [{ action: 'delete', ...named, fields: [] }];
    const fields = fieldChanges(old, now);
    return fields.length === 0 ? [] : [{ action: 'change', ...named, fields }];
  });
  const text = ({ kind, namespace = '', name }: PlannedObject): string => `${kind} ${namespace}/${name}`;
  return found.toSorted((a, b) => (text(a) < text(b) ? -1 : 1));
}
