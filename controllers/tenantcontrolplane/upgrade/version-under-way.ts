import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { compareVersions } from '../../../kubeadm/versions.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import { versionFacts } from './version-facts.ts';

/** True while the preflight holds the version in the spec, as the status last reported. */
function isHeld({ status }: TenantControlPlane): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'UpgradeAllowed' && is === 'False') === true;
}

/**
 * The version in the spec of a stored object, if pods may run it, for admission, which does not see the Deployment. Undefined while
 * the version is held or refused, which webhooks that were disabled let pass: no pod runs it, so replacing it changes nothing.
 */
export function versionUnderWay(old: TenantControlPlane, newestMinor?: number): KubernetesVersion | undefined {
  if (isHeld(old)) return undefined;
  const { wanted, refusal } = versionFacts({ tcp: old, newestMinor });
  return refusal === undefined ? wanted : undefined;
}

/** True when `tcp` wants the installed version again, and no pod runs the one that `old` wants. */
export function cancelsUpgrade(tcp: TenantControlPlane, old: TenantControlPlane, newestMinor?: number): boolean {
  const { installed } = versionFacts({ tcp: old });
  const { wanted } = versionFacts({ tcp });
  if (installed === undefined || wanted === undefined) return false;
  return versionUnderWay(old, newestMinor) === undefined && compareVersions(wanted, installed) === 0;
}
