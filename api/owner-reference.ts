import type { OwnerReference, Resource } from './meta.ts';

/** A controller reference to an object that exists in the API server. */
export function ownerReferenceOf(owner: Resource): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
