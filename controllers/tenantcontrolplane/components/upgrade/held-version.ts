import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** The version that is installed, as the status records it; empty before the first time. */
export function installedVersion({ status }: TenantControlPlane): string {
  return status?.kubernetesResources?.version?.version ?? '';
}

/** True while no pod has been asked for the version that the spec wants: the wish can be taken back, and nothing has happened. */
export function isVersionHeld({ status }: TenantControlPlane): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'UpgradeAllowed' && is === 'False') === true;
}

/** True when `text` is the very version that runs while another one is held back. */
export function takesBack(tcp: TenantControlPlane, text: string): boolean {
  const installed = installedVersion(tcp);
  return installed !== '' && isVersionHeld(tcp) && text.trim().replace(/^v?/, 'v') === installed;
}
