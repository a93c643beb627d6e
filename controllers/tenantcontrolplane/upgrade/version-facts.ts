import type { Deployment } from '../../../api/core/kinds.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { collectErrors } from '../../../kubeadm/collect-errors.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { refuseVersion } from '../../../kubeadm/refuse-version.ts';
import { newestMinor, parseVersion, readVersion } from '../../../kubeadm/versions.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import { versionOfPods } from './version-of-pods.ts';

/** The Kubernetes versions of a control plane, read once. Which of them a reconcile works towards is decided by the preflight. */
export interface VersionFacts {
  /** The version in the spec; absent when the text there is not a version, as `refusal` says. */
  readonly wanted?: KubernetesVersion;
  /** The version that last became Ready; absent before the first one. */
  readonly installed?: KubernetesVersion;
  /**
   * The version in the Deployment, which pods may run before it is installed; absent when there is no Deployment or its image does
   * not show the version.
   */
  readonly running?: KubernetesVersion;
  /** Why the control plane may not get the wanted version; absent when it may. */
  readonly refusal?: InvalidInput;
}

/** What the versions are read from. */
export interface VersionSources {
  readonly tcp: TenantControlPlane;
  readonly deployment?: Deployment | undefined;
  /** The newest hosted minor of Kubernetes 1; defaults to the newest tested one. */
  readonly newestMinor?: number | undefined;
}

const field = 'spec.kubernetes.version';
const installedField = 'status.kubernetesResources.version.version';

/** Reads the versions of a control plane, and validates the step to the wanted one. */
export function versionFacts({ tcp, deployment, newestMinor: newest = newestMinor }: VersionSources): VersionFacts {
  const text = tcp.spec.kubernetes.version;
  const recorded = tcp.status?.kubernetesResources?.version?.version ?? '';
  const wanted = readVersion(text);
  const installed = readVersion(recorded);
  const running = readVersion(versionOfPods(deployment) ?? '');
  const [broken] = recorded === '' ? [] : collectErrors(() => parseVersion(recorded, installedField));
  // A control plane that never served has nothing to lose: until then, its version may change freely.
  const from = installed === undefined ? [] : [installed, running].filter((version) => version !== undefined);
  const refusal = broken ?? refuseVersion(text, { field, from, newest });
  return { wanted, installed, running, refusal };
}
