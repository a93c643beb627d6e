import type { KindRef, OwnerReference, Resource } from '../../api/meta.ts';
import { kinds } from '../../api/core/kinds.ts';
import { tenantObjects } from '../../api/names.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Patch } from '../../runtime/cluster.ts';

/** One object that workers and users rely on, so that it is passed on instead of being made anew. */
export interface PassedOn {
  readonly kind: KindRef;
  readonly name: string;
}

/**
 * What a TenantControlPlane passes on to the one that takes its place: its address, its authorities and keys. All else follows
 * from these and is made anew.
 */
export function passedOn({ metadata: { name = '' } }: TenantControlPlane): readonly PassedOn[] {
  const names = tenantObjects(name);
  return [
    { kind: kinds.Service, name: names.service },
    ...[names.ca, names.frontProxyCa, names.serviceAccount, names.trustdCredentials].map((secret) => ({
      kind: kinds.Secret,
      name: secret,
    })),
  ];
}

/** UID of the object that controls this one. */
export function controllerUid({ metadata }: Resource): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

/** Puts `next` in the place of the controller `uid`, unless somebody changed the object meanwhile. */
export function ownerPatch({ metadata }: Resource, uid: string, next: OwnerReference): Patch {
  const others = (metadata.ownerReferences ?? []).filter((reference) => ![uid, next.uid].includes(reference.uid));
  const { resourceVersion } = metadata;
  return { type: 'merge', body: { metadata: { resourceVersion, ownerReferences: [...others, next] } } };
}
