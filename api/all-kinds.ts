import { clusterStackKinds } from '../clusterstacks/api/kinds.ts';
import { stewardControlPlaneTemplate } from './controlplane/steward-control-plane-template.ts';
import { stewardControlPlane } from './controlplane/steward-control-plane.ts';
import type { Kind } from './schema.ts';
import { backupPolicy } from './steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from './steward/v1alpha1/backup/tenant-backup.ts';
import { tenantRestore } from './steward/v1alpha1/backup/tenant-restore.ts';
import { dataStore } from './steward/v1alpha1/data-store.ts';
import { controlPlaneClaim } from './steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from './steward/v1alpha1/pool/control-plane-pool.ts';
import { kubeconfigGenerator } from './steward/v1alpha1/kubeconfig-generator.ts';
import { retainedControlPlane } from './steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from './steward/v1alpha1/tenant-control-plane.ts';

/** Every kind that the project defines. Those of the optional layer come last. */
export const allKinds: readonly Kind[] = [
  tenantControlPlane,
  retainedControlPlane,
  dataStore,
  kubeconfigGenerator,
  controlPlanePool,
  controlPlaneClaim,
  backupPolicy,
  tenantBackup,
  tenantRestore,
  stewardControlPlane,
  stewardControlPlaneTemplate,
  ...clusterStackKinds,
];
