import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { readVersion, versionText } from '../../../kubeadm/versions.ts';
import type { Progress } from './follow-object.ts';
import { conditionLine, currentCondition } from './ready-condition.ts';

/** How far an upgrade to this version is. */
export function upgradeProgress(wanted: string, tenant: TenantControlPlane): Progress {
  const requested = readVersion(tenant.spec.kubernetes.version);
  if (requested === undefined || versionText(requested) !== wanted) {
    return { state: 'waiting', line: 'the StewardControlPlane has not changed its TenantControlPlane yet' };
  }
  const { version } = tenant.status?.kubernetesResources ?? {};
  const ready = currentCondition(tenant, 'Ready');
  const allowed = currentCondition(tenant, 'UpgradeAllowed');
  const paused = currentCondition(tenant, 'Paused');
  if (paused?.status === 'True') return { state: 'waiting', line: conditionLine(paused) };
  if (allowed?.status === 'False' && allowed.reason === 'RolloutFailed') {
    return { state: 'failed', line: allowed.message };
  }
  if (allowed?.status === 'False') return { state: 'waiting', line: conditionLine(allowed) };
  if (ready === undefined) return { state: 'waiting', line: 'the manager has not seen the change yet' };
  if (version?.version === wanted && ready.status === 'True' && ready.reason === 'Ready') {
    return { state: 'done', line: `runs ${wanted}` };
  }
  return { state: 'waiting', line: conditionLine(ready) };
}
