import type { KubernetesVersion } from './versions.ts';
import { newestMinor, oldestMinor, versionText } from './versions.ts';

/** kubeadm's default repository of images. */
export const defaultImageRepository = 'registry.k8s.io';

interface Tags {
  readonly coreDns: string;
  readonly pause: string;
}

/** The tags in kubeadm of the newest patch of each minor (cmd/kubeadm/app/constants). */
const tagsByMinor: Readonly<Record<number, Tags>> = {
  29: { coreDns: 'v1.11.1', pause: '3.9' },
  30: { coreDns: 'v1.11.3', pause: '3.9' },
  31: { coreDns: 'v1.11.3', pause: '3.10' },
  32: { coreDns: 'v1.11.3', pause: '3.10' },
  33: { coreDns: 'v1.12.0', pause: '3.10' },
  34: { coreDns: 'v1.12.1', pause: '3.10.1' },
  35: { coreDns: 'v1.13.1', pause: '3.10.1' },
  36: { coreDns: 'v1.14.2', pause: '3.10.2' },
};

function tagsOf({ minor }: KubernetesVersion): Tags {
  const tags = tagsByMinor[Math.min(Math.max(minor, oldestMinor), newestMinor)];
  if (tags === undefined) throw new RangeError(`no image tags are known for Kubernetes 1.${minor}`);
  return tags;
}

/** A user's choice for an add-on's image; each part can be set alone. */
export interface ImageOverride {
  readonly imageRepository?: string | undefined;
  readonly imageTag?: string | undefined;
}

/** CoreDNS as kubeadm of the version's minor installs it. A custom repository holds the image as `coredns`. */
export function coreDnsImage(version: KubernetesVersion, override: ImageOverride = {}): string {
  const repository = override.imageRepository ?? `${defaultImageRepository}/coredns`;
  return `${repository}/coredns:${override.imageTag ?? tagsOf(version).coreDns}`;
}

/** kube-proxy of the tenant's own version. */
export function kubeProxyImage(version: KubernetesVersion, override: ImageOverride = {}): string {
  return `${override.imageRepository ?? defaultImageRepository}/kube-proxy:${override.imageTag ?? versionText(version)}`;
}

/** The sandbox image that container runtimes of the version's minor should use. */
export function pauseImage(version: KubernetesVersion): string {
  return `${defaultImageRepository}/pause:${tagsOf(version).pause}`;
}
