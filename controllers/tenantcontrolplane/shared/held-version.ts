import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** The installed version from the status; empty before the first installation. */
export function installedVersion({ status }: TenantControlPlane): string {
  return status?.kubernetesResources?.version?.version ?? '';
}

/** True while no pod runs the wanted version: the upgrade can be cancelled without any effect. */
export function isVersionHeld({ status }: TenantControlPlane): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'UpgradeAllowed' && is === 'False') === true;
}

/** True when `text` is the running version while another one is held. */
export function takesBack(tcp: TenantControlPlane, text: string): boolean {
  const installed = installedVersion(tcp);
  return installed !== '' && isVersionHeld(tcp) && text.trim().replace(/^v?/, 'v') === installed;
}
