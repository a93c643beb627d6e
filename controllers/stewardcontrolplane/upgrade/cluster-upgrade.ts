import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { topologyOwnedLabel } from '../../../api/cluster-api/names.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { readVersion, versionText } from '../../../kubeadm/versions.ts';

/** What of a control plane tells whether its Cluster upgrades it. */
export interface UpgradedControlPlane {
  readonly metadata: Pick<StewardControlPlane['metadata'], 'labels'>;
  readonly spec: Pick<StewardControlPlane['spec'], 'version'>;
  readonly status?: Pick<NonNullable<StewardControlPlane['status']>, 'version'> | undefined;
}

/**
 * The version to which the topology of its Cluster upgrades a control plane, or its workers; undefined when it does not. For that the control
 * plane has to be awake: Cluster API upgrades nothing else before it reports the new version, and workers of that version join it.
 */
export function clusterUpgrade(scp: UpgradedControlPlane, cluster: CapiCluster): string | undefined {
  const { topology } = cluster.spec ?? {};
  const reported = canonical(scp.status?.version);
  if (topology === undefined || reported === undefined) return undefined;
  if (scp.metadata.labels?.[topologyOwnedLabel] === undefined) return undefined;
  const wanted = [topology.version, scp.spec.version]
    .map(canonical)
    .find((version) => version !== undefined && version !== reported);
  return wanted ?? (isUpgrading(cluster) ? reported : undefined);
}

function canonical(text: string | undefined): string | undefined {
  const version = readVersion(text ?? '');
  return version && versionText(version);
}

/** True while Cluster API says that part of the Cluster has to get the version of the topology. Workers that are to get it later do not count. */
function isUpgrading({ status }: CapiCluster): boolean {
  const reconciled = status?.conditions?.find(({ type }) => type === 'TopologyReconciled');
  if (reconciled?.status !== 'False') return false;
  // Before Cluster API v1.12, a reason for each part.
  return reconciled.reason === 'ClusterUpgrading' || reconciled.reason.endsWith('UpgradePending');
}
