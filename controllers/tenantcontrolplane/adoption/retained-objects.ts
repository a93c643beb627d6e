import type { KindRef, OwnerReference, Resource } from '../../../api/meta.ts';
import { kinds } from '../../../api/core/kinds.ts';
import { tenantObjects } from '../../../api/names.ts';
import type { TenantObjectNames } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Patch } from '../../../runtime/client/cluster.ts';

/** An object that workers and users rely on, so that it is released to the successor instead of being created again. */
export interface PassedOn {
  readonly kind: KindRef;
  readonly name: string;
}

/** What has Secrets that are passed on. */
export interface PassesOn {
  /** Its Secrets that workers and users rely on, so that a successor of the TenantControlPlane gets them. */
  passedOn?(names: TenantObjectNames): readonly string[];
}

/**
 * The objects that a TenantControlPlane releases to its successor: address, CAs and keys. All others follow from these and are
 * created again.
 */
export function passedOn({ metadata: { name } }: TenantControlPlane, addons: readonly PassesOn[]): readonly PassedOn[] {
  const names = tenantObjects(name);
  return [
    { kind: kinds.Service, name: names.service },
    ...[
      ...[names.ca, names.frontProxyCa, names.serviceAccount, names.encryption],
      ...addons.flatMap((addon) => addon.passedOn?.(names) ?? []),
    ].map((secret) => ({ kind: kinds.Secret, name: secret })),
  ];
}

/** UID of the object that controls this one. */
export function controllerUid({ metadata }: Resource): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

/** Replaces the controller `uid` by `next`, unless the object has changed in the meantime. */
export function ownerPatch({ metadata }: Resource, uid: string, next: OwnerReference): Patch {
  const others = (metadata.ownerReferences ?? []).filter((reference) => ![uid, next.uid].includes(reference.uid));
  const { resourceVersion } = metadata;
  return { type: 'merge', body: { metadata: { resourceVersion, ownerReferences: [...others, next] } } };
}
