import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenancyOwner } from './components/tenancy.ts';

/**
 * The other TenantControlPlane, as `namespace/name`, that has the data which this one's status says is its own; undefined when there is
 * none. Whoever may write a status, or restores one from a backup, can name an owner that is alive: the one with that UID has the data,
 * then the oldest of those that have taken it over.
 */
export function otherHolder(tcp: TenantControlPlane, others: readonly TenantControlPlane[]): string | undefined {
  const owner = tenancyOwner(tcp);
  const { namespace, name, uid, creationTimestamp: age = '9999' } = tcp.metadata;
  const holder = others.find((other) => {
    const { metadata } = other;
    // What is kept of one that is gone is no object: nobody vouches for its UID.
    if (metadata.creationTimestamp === undefined) return false;
    // Former ones of the same name may be cached yet.
    if (metadata.namespace === namespace && metadata.name === name) return false;
    if (metadata.uid === owner) return true;
    return owner !== uid && tenancyOwner(other) === owner && metadata.creationTimestamp < age;
  });
  return holder && `${holder.metadata.namespace ?? ''}/${holder.metadata.name ?? ''}`;
}
