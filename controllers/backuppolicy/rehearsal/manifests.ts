import type { Manifest } from '../../../api/meta.ts';
import { apiVersionOf } from '../../../api/meta.ts';
import { backupPolicy } from '../../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { BackupPolicy } from '../../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** The objects of a TenantControlPlane append to its name, which is a label as well. */
const longestName = 40;

/** The name of both objects of a rehearsal. */
export const rehearsalName = ({ metadata }: BackupPolicy): string =>
  `${metadata.name.slice(0, longestName).replaceAll('.', '-')}-rehearsal`;

/** A TenantControlPlane without pods, which gets the data of the backup. No client can use it. */
export function trialManifest(policy: BackupPolicy, { spec }: TenantControlPlane): Manifest {
  const dataStore = policy.spec.rehearsal?.dataStoreName ?? spec.dataStore;
  return {
    apiVersion: apiVersionOf(tenantControlPlane),
    kind: tenantControlPlane.kind,
    metadata: metadataOf(policy),
    spec: {
      ...(dataStore !== undefined && { dataStore }),
      controlPlane: { deployment: { replicas: 0 }, service: { serviceType: 'ClusterIP' } },
      kubernetes: { version: spec.kubernetes.version, kubelet: spec.kubernetes.kubelet },
      addons: {},
    },
  };
}

/** The restore of the last moment that is known, into the trial. */
export function rehearsalManifest(policy: BackupPolicy): Manifest {
  return {
    apiVersion: apiVersionOf(tenantRestore),
    kind: tenantRestore.kind,
    metadata: metadataOf(policy),
    spec: {
      tenantControlPlaneName: rehearsalName(policy),
      type: 'Clone',
      source: { policyName: policy.metadata.name },
    },
  };
}

/** Both go with the policy. */
function metadataOf(policy: BackupPolicy): Manifest['metadata'] {
  const { name, namespace, uid } = policy.metadata;
  const { kind } = backupPolicy;
  const owner = { apiVersion: apiVersionOf(backupPolicy), kind, name, uid, controller: true };
  return { name: rehearsalName(policy), namespace, ownerReferences: [owner] };
}

/** Whether an object belongs to a rehearsal of this policy. */
export const isOf = (
  { metadata: { uid } }: BackupPolicy,
  { metadata }: { readonly metadata: { readonly ownerReferences?: readonly { readonly uid: string }[] } },
): boolean => metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;
