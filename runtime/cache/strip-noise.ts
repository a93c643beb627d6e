import type { Resource } from '../../api/meta.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** The object without what is never read but would take space in every cache: managedFields and kubectl's last-applied copy. */
export function stripNoise<T extends Resource>(object: T): T {
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- naming a field leaves it out of the rest
  const { managedFields: _managedFields, annotations, ...metadata } = object.metadata;
  if (annotations === undefined || !(lastApplied in annotations)) {
    return { ...object, metadata: annotations === undefined ? metadata : { ...metadata, annotations } };
  }
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- naming a field leaves it out of the rest
  const { [lastApplied]: _lastApplied, ...kept } = annotations;
  return { ...object, metadata: { ...metadata, annotations: kept } };
}
