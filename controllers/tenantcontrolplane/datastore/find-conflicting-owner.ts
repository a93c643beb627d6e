import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenancyOwner } from './tenancy.ts';

/**
 * The other TenantControlPlane, as `namespace/name`, that owns the data which this one's status claims; undefined when
 * there is none. Anyone who may write a status, or restores one from a backup, can name an existing owner: the data belongs
 * to the TenantControlPlane with that UID, then to the oldest of those that have adopted it.
 */
export function otherHolder(tcp: TenantControlPlane, others: readonly TenantControlPlane[]): string | undefined {
  const owner = tenancyOwner(tcp);
  const { namespace, name, uid, creationTimestamp: age = '9999' } = tcp.metadata;
  const holder = others.find((other) => {
    const { metadata } = other;
    // A retained record of a deleted one is not an object of the API server, so nothing vouches for its UID.
    if (metadata.creationTimestamp === undefined) return false;
    // Deleted ones of the same name may still be in the cache.
    if (metadata.namespace === namespace && metadata.name === name) return false;
    if (metadata.uid === owner) return true;
    return owner !== uid && tenancyOwner(other) === owner && metadata.creationTimestamp < age;
  });
  return holder && `${holder.metadata.namespace}/${holder.metadata.name}`;
}
