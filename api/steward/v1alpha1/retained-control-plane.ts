import type { Key, NamespacedResource, Resource } from '../../meta.ts';
import { conditionList } from '../../embedded/condition-list.ts';
import { stewardGroup } from '../../names.ts';
import type { Infer, Kind, ObjectOf } from '../../schema.ts';
import { described, int64, obj, opt, str } from '../../schema.ts';

const retainedControlPlaneSpec = obj({
  formerUID: described(str({ minLength: 1 }), 'UID of the deleted TenantControlPlane.'),
  controllerUID: opt(
    described(
      str(),
      'UID of the object that controlled the deleted TenantControlPlane. That object names the adopter. If it is deleted, so is what is retained.',
    ),
  ),
  record: described(
    str(),
    'Spec of the deleted TenantControlPlane and what its status recorded about its data, as JSON.',
  ),
  adopterUID: opt(
    described(
      str(),
      'UID of the TenantControlPlane of the same name that adopts what is retained. Whoever may write this field decides who gets the data.',
    ),
  ),
});
export type RetainedControlPlaneSpec = Infer<typeof retainedControlPlaneSpec>;

const retainedControlPlaneStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
});
export type RetainedControlPlaneStatus = Infer<typeof retainedControlPlaneStatus>;

/**
 * The retained record of a deleted TenantControlPlane, as a PersistentVolume stays when its claim is deleted. It owns what
 * was released with the data. It has no namespace: whoever may write it decides who gets the data, and permissions in a
 * namespace must not suffice for that.
 */
export const retainedControlPlane: Kind<RetainedControlPlaneSpec, RetainedControlPlaneStatus> = {
  group: stewardGroup,
  version: 'v1alpha1',
  kind: 'RetainedControlPlane',
  plural: 'retainedcontrolplanes',
  namespaced: false,
  singular: 'retainedcontrolplane',
  listKind: 'RetainedControlPlaneList',
  shortNames: ['rcp'],
  categories: ['steward'],
  versions: [{ name: 'v1alpha1', served: true, storage: true }],
  description:
    'What is retained of a deleted TenantControlPlane: its data, Service, CAs and keys. Deleted once another TenantControlPlane has adopted them. Deleting it earlier removes the data.',
  spec: retainedControlPlaneSpec,
  status: retainedControlPlaneStatus,
  columns: [
    { name: 'Former', type: 'string', jsonPath: '.spec.formerUID' },
    { name: 'Adopter', type: 'string', jsonPath: '.spec.adopterUID' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};

export type RetainedControlPlane = ObjectOf<typeof retainedControlPlane>;

/** The key of the RetainedControlPlane of a TenantControlPlane. A namespace has no dot in its name. */
export function retainedKey({ metadata: { namespace, name } }: NamespacedResource): Key {
  return { name: `${namespace}.${name}` };
}

/** The key of the TenantControlPlane that a RetainedControlPlane is of. */
export function formerKey({ metadata: { name } }: Resource): Key & { readonly namespace: string } {
  const dot = name.indexOf('.');
  return { namespace: name.slice(0, Math.max(dot, 0)), name: name.slice(dot + 1) };
}
