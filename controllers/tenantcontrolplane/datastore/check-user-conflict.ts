import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenancyIdentifier } from '../../../stores/tenancy-names.ts';
import { tenancyOwner } from './tenancy.ts';

/** Identifiers that are derived from UIDs: 26 characters of base32 after a letter. */
const made = /^[tu][a-z2-7]{26}$/;

/**
 * Why a user name that an author chose may belong to another tenant in another DataStore; undefined when it does not. Datastores
 * with the same CA accept a certificate for the same name, and no datastore knows the owners in another.
 */
export function foreignUser(
  tcp: TenantControlPlane,
  user: string,
  others: readonly TenantControlPlane[],
): string | undefined {
  const { uid } = tcp.metadata;
  if (user === tenancyIdentifier(tenancyOwner(tcp))) return undefined;
  if (made.test(user)) return 'has the form of a generated user name';
  const holder = others.find(({ metadata, status }) => {
    const { setup, overrides = [] } = status?.storage ?? {};
    return metadata.uid !== uid && [setup?.user, ...overrides.map((share) => share.user)].includes(user);
  });
  if (holder === undefined) return undefined;
  return `is the user of ${holder.metadata.namespace}/${holder.metadata.name}`;
}
