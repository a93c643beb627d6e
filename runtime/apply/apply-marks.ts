import { ownerReferenceOf, type Manifest, type Resource } from '../../api/meta.ts';
import type { ApplySet } from './apply-set.ts';
import { describe } from '../cache/object-id.ts';

/**
 * How objects are marked with the set that they belong to. The component is a label, so that they can be listed. The owner
 * is a controller reference if owner and object are in one cluster, and an annotation otherwise.
 */
export type Marking =
  | { readonly by: 'ownerReference'; readonly componentLabel: string }
  | { readonly by: 'annotation'; readonly componentLabel: string; readonly annotation: string };

/** The manifest with the marks of its set. Throws when it contradicts them, which is a mistake of the component. */
export function mark(manifest: Manifest, set: ApplySet, marking: Marking): Manifest {
  const { metadata } = manifest;
  const label = metadata.labels?.[marking.componentLabel];
  if (label !== undefined && label !== set.component) {
    throw new Error(
      `${describe(manifest)} of component ${set.component} carries ${marking.componentLabel}=${label}, ` +
        'so it would never be pruned: remove the label, or give the set the name in the label',
    );
  }
  const labels = { ...metadata.labels, [marking.componentLabel]: set.component };
  if (marking.by === 'annotation') {
    const annotations = { ...metadata.annotations, [marking.annotation]: set.owner.metadata.uid };
    return { ...manifest, metadata: { ...metadata, labels, annotations } };
  }
  const { namespace } = set.owner.metadata;
  if (namespace !== undefined && namespace !== metadata.namespace) {
    throw new Error(
      `${describe(manifest)} cannot be owned by ${describe(set.owner)}: an owner reference cannot refer to another ` +
        'namespace. Put it there, or mark the set by annotation',
    );
  }
  const others = (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== set.owner.metadata.uid);
  return { ...manifest, metadata: { ...metadata, labels, ownerReferences: [...others, ownerReferenceOf(set.owner)] } };
}

/** Whether an object that carries the component's label belongs to this owner. */
export function belongs(object: Resource, set: ApplySet, marking: Marking): boolean {
  const { metadata } = object;
  if (metadata.labels?.[marking.componentLabel] !== set.component) return false;
  const { uid } = set.owner.metadata;
  if (marking.by === 'annotation') return metadata.annotations?.[marking.annotation] === uid;
  return metadata.ownerReferences?.some((reference) => reference.uid === uid) ?? false;
}
