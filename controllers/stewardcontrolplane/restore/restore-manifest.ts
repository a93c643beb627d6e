import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Manifest } from '../../../api/meta.ts';
import { apiVersionOf, ownerReferenceOf } from '../../../api/meta.ts';
import type { RestoreFrom } from '../../../api/steward/v1alpha1/backup/restore-source.ts';
import { tenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { restoreName } from './restore-state.ts';

/**
 * The TenantRestore of a StewardControlPlane, in its namespace and owned by it. It may reach what every TenantRestore of this namespace
 * may reach, and no more.
 */
export function restoreManifest(scp: StewardControlPlane, { toTime, ...source }: RestoreFrom): Manifest {
  const { name, namespace } = scp.metadata;
  return {
    apiVersion: apiVersionOf(tenantRestore),
    kind: tenantRestore.kind,
    metadata: { name: restoreName(scp), namespace, ownerReferences: [ownerReferenceOf(scp)] },
    spec: { tenantControlPlaneName: name, type: 'Move', source, ...(toTime !== undefined && { toTime }) },
  };
}
