import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenancyIdentifier } from '../../stores/tenancy-names.ts';
import { tenancyOwner } from './components/tenancy.ts';

/** Identifiers that are made from UIDs: 26 characters of base32 after a letter. */
const made = /^[tu][a-z2-7]{26}$/;

/**
 * Why a user that an author chose may be somebody else's in another DataStore, undefined when it is not: stores that share a
 * certificate authority take a certificate for the same name, and no store knows the owners of another.
 */
export function foreignUser(
  tcp: TenantControlPlane,
  user: string,
  others: readonly TenantControlPlane[],
): string | undefined {
  const { uid = '' } = tcp.metadata;
  if (user === tenancyIdentifier(tenancyOwner(tcp))) return undefined;
  if (made.test(user)) return 'has the form of the names that tenants get which choose none';
  const holder = others.find(({ metadata, status }) => {
    const { setup, overrides = [] } = status?.storage ?? {};
    return metadata.uid !== uid && [setup?.user, ...overrides.map((share) => share.user)].includes(user);
  });
  if (holder === undefined) return undefined;
  return `is the user of ${holder.metadata.namespace ?? ''}/${holder.metadata.name ?? ''}`;
}
