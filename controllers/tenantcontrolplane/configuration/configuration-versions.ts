import type { KubernetesVersion } from '../../../kubeadm/versions.ts';

/** API group of the files that configure kube-apiserver. */
const group = 'apiserver.config.k8s.io';

/** The first minor in which kube-apiserver reads the file without an alpha feature gate, and the one in which its v1 is. */
interface Since {
  readonly beta: number;
  readonly stable: number;
}

/**
 * From the types and feature gates of k8s.io/apiserver v0.29 to v0.36. In 1.29 both files exist as v1alpha1 behind gates that are off,
 * and with one issuer at most.
 */
const since = {
  AuthenticationConfiguration: { beta: 30, stable: 34 },
  AuthorizationConfiguration: { beta: 30, stable: 32 },
} as const satisfies Readonly<Record<string, Since>>;

/** A file that not every minor reads in the same version. */
export type VersionedConfiguration = keyof typeof since;

/** The apiVersion in which a Kubernetes version reads the file; undefined when it does not read it. */
export function configurationVersion(kind: VersionedConfiguration, { minor }: KubernetesVersion): string | undefined {
  const { beta, stable } = since[kind];
  if (minor < beta) return undefined;
  return `${group}/${minor < stable ? 'v1beta1' : 'v1'}`;
}

/** The first minor that reads the file. */
export const firstMinor = (kind: VersionedConfiguration): number => since[kind].beta;
