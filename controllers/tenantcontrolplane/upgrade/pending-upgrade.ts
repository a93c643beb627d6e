import { annotations } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { versionText } from '../../../kubeadm/versions.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import type { VersionFacts } from './version-facts.ts';

/** An upgrade to another minor that no pod runs yet. */
export interface PendingUpgrade {
  /** The version that the pods run. */
  readonly from: KubernetesVersion;
  readonly to: KubernetesVersion;
}

/**
 * The next minor, until the Deployment has it; undefined for a step that is refused. The Deployment itself is the record that an
 * upgrade has begun: such an upgrade is never held, whatever is found later and by whichever process. A control plane that never
 * served has nothing to lose.
 */
export function pendingUpgrade({ wanted, installed, running, refusal }: VersionFacts): PendingUpgrade | undefined {
  if (wanted === undefined || installed === undefined || refusal !== undefined) return undefined;
  const from = running ?? installed;
  return wanted.minor === from.minor ? undefined : { from, to: wanted };
}

/** True when an annotation forces this version, whatever the preflight finds. */
export function isForced(tcp: TenantControlPlane, { to }: PendingUpgrade): boolean {
  const given = tcp.metadata.annotations?.[annotations.upgradeAnyway]?.trim() ?? '';
  return given.replace(/^v?/, 'v') === versionText(to);
}
