import { timingSafeEqual } from 'node:crypto';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Resource } from '../../../api/meta.ts';
import { annotations, finalizers } from '../../../api/names.ts';
import type { Claim } from './claim.ts';
import { claimHash, externalTenantName } from './claim.ts';

/**
 * To whom a TenantControlPlane in another cluster belongs: `ours` to us; `adoptable` to one whose claim we have, or to the Go
 * provider; `lost` belonged to us until another StewardControlPlane with the same claim adopted it; `foreign` to any other owner.
 */
export type Whose = 'ours' | 'adoptable' | 'lost' | 'foreign';

/**
 * Decides by what no one else has: our UID, which only our API server assigns, and the proof of the claim, of which only
 * the hash is in the other cluster. A name proves nothing, except for an object without marks that the Go provider created:
 * that provider also left its finalizer here.
 */
export function whoseTenant(tenant: Resource, scp: StewardControlPlane, claim: Claim | undefined): Whose {
  const uid = scp.metadata.uid;
  const { name, annotations: marks } = tenant.metadata;
  const holder = marks?.[annotations.externalHolder];
  const hash = marks?.[annotations.externalClaim];
  if (uid !== '' && holder === uid) return 'ours';
  if (hash === undefined && holder === undefined) {
    const isOfGoProvider = scp.metadata.finalizers?.includes(finalizers.externalCluster) ?? false;
    return isOfGoProvider && name === externalTenantName(scp) ? 'adoptable' : 'foreign';
  }
  if (claim === undefined || !equal(hash ?? '', claimHash(claim.proof))) return 'foreign';
  // Ours has been taken from us when we held it already.
  return claim.holder === uid && holder !== undefined ? 'lost' : 'adoptable';
}

function equal(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
