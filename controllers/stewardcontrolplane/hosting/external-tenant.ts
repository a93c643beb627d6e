import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Manifest } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlaneOf } from '../tenant/tenant-control-plane.ts';
import type { Claim } from './claim.ts';
import { claimHash } from './claim.ts';

/**
 * Annotations about the move and the deletion of a StewardControlPlane have no meaning in the other cluster, where nothing
 * names the adopter of what is retained.
 */
const stays = new RegExp(
  `^(clusterctl\\.cluster\\.x-k8s\\.io/|external\\.steward\\.butlerlabs\\.dev/|${annotations.deletionPolicy}$)`,
);

/**
 * The TenantControlPlane of a StewardControlPlane in another cluster: the same as it would be here, under the name of the claim, without
 * an owner, which would have to be in that cluster, and with the marks by which it is known again.
 */
export function externalTenant(
  scp: StewardControlPlane,
  cluster: CapiCluster,
  {
    claim,
    existing,
    holdsVersion = false,
    now,
  }: {
    readonly claim: Claim;
    readonly existing: TenantControlPlane | undefined;
    readonly holdsVersion?: boolean;
    readonly now: Date;
  },
): Manifest {
  const local = tenantControlPlaneOf(scp, cluster, { existing, holdsVersion, now });
  const { labels, annotations: handedDown = {} } = local.metadata;
  const uid = existing?.metadata.uid;
  return {
    ...local,
    metadata: {
      name: claim.name,
      namespace: claim.namespace,
      // A precondition: a TenantControlPlane that someone else deleted and created again meanwhile is not ours.
      uid,
      labels,
      annotations: {
        ...Object.fromEntries(Object.entries(handedDown).filter(([name]) => !stays.test(name))),
        [annotations.externalClaim]: claimHash(claim.proof),
        [annotations.externalHolder]: scp.metadata.uid,
      },
    },
  };
}
