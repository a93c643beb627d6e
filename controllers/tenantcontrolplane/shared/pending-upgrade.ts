import type { Deployment } from '../../../api/core/kinds.ts';
import { annotations, containers } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { checkUpgrade, parseVersion, versionText } from '../../../kubeadm/versions.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';

/** An upgrade to another minor that no pod runs yet. */
export interface PendingUpgrade {
  /** The version that the pods run. */
  readonly from: KubernetesVersion;
  readonly to: KubernetesVersion;
}

/** A tag may have a suffix set by the author. */
const tagged = /:(v\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?)[^/]*$/;

/** The version of kube-apiserver in a Deployment; undefined when its image does not show it. */
export function versionOfPods(deployment: Deployment | undefined): string | undefined {
  const pod = deployment?.spec?.template.spec;
  const image = pod?.containers.find(({ name }) => name === containers.apiServer)?.image;
  return tagged.exec(image ?? '')?.[1];
}

/** Undefined for an invalid version or a step that is not allowed, which is reported where the pods are rolled. */
function stepOf(from: string, to: string): PendingUpgrade | undefined {
  try {
    const step = { from: parseVersion(from), to: parseVersion(to) };
    checkUpgrade(step.from, step.to, 'spec.kubernetes.version', step.to.minor);
    return step;
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined;
    throw error;
  }
}

/**
 * The next minor, until the Deployment has it. The Deployment itself is the record that an upgrade has begun: such an
 * upgrade is never held, regardless of later findings of any process. A control plane that never served has nothing to
 * lose.
 */
export function pendingUpgrade(
  tcp: TenantControlPlane,
  deployment: Deployment | undefined,
): PendingUpgrade | undefined {
  const installed = tcp.status?.kubernetesResources?.version?.version ?? '';
  if (installed === '') return undefined;
  const step = stepOf(versionOfPods(deployment) ?? installed, tcp.spec.kubernetes.version);
  return step === undefined || step.to.minor === step.from.minor ? undefined : step;
}

/** True if an annotation forces this version despite the preflight. */
export function isForced(tcp: TenantControlPlane, { to }: PendingUpgrade): boolean {
  const given = tcp.metadata.annotations?.[annotations.upgradeAnyway]?.trim() ?? '';
  return given.replace(/^v?/, 'v') === versionText(to);
}
