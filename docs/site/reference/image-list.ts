import { defaultKonnectivityAgent, defaultKonnectivityServer } from '../../../api/embedded/addons.ts';
import { managerFlags } from '../../../cmd/flags/manager-flags.ts';
import { konnectivityImage } from '../../../controllers/tenantcontrolplane/addons/konnectivity/konnectivity-programs.ts';
import { defaultProxyImage } from '../../../controllers/tenantcontrolplane/addons/tcp-proxy/proxy-manifests.ts';
import { coreDnsImage, defaultImageRepository, kubeProxyImage, pauseImage } from '../../../kubeadm/images.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';

/** An image that Steward or a tenant pulls unless told otherwise. */
export interface ListedImage {
  readonly image: string;
  /** The minor of Kubernetes that it goes with, or what needs it. */
  readonly neededBy: string;
  /** What chooses another one. */
  readonly field: string;
}

const registry = '`spec.controlPlane.deployment.registrySettings`';

/** The images of a control plane of one version, and of the add-ons inside its tenant. */
export function imagesOfVersion(version: string): readonly ListedImage[] {
  const parsed = parseVersion(version);
  const neededBy = `1.${parsed.minor}`;
  const programs = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map((name) => ({
    ...{ image: `${defaultImageRepository}/${name}:${version}`, neededBy, field: registry },
  }));
  const addon = (image: string, field: string): ListedImage => ({ image, neededBy, field: `\`spec.addons.${field}\`` });
  return [
    ...programs,
    addon(coreDnsImage(parsed), 'coreDNS.imageRepository'),
    addon(kubeProxyImage(parsed), 'kubeProxy.imageRepository'),
    addon(konnectivityImage(parsed, defaultKonnectivityServer), 'konnectivity.server.image'),
    addon(konnectivityImage(parsed, defaultKonnectivityAgent), 'konnectivity.agent.image'),
    { image: pauseImage(parsed), neededBy, field: "the container runtime's configuration, on workers" },
  ];
}

/** The images that do not go with a minor; `quickStarts` are those in config/, by what needs them. */
export function otherImages(version: string, quickStarts: ReadonlyMap<string, string>): readonly ListedImage[] {
  const manager = '`image` of the chart, `images` of a kustomization, `--image` of `npm run release:local`';
  const add = (image: string, neededBy: string, field: string): ListedImage => ({ image, neededBy, field });
  return [
    add(`ghcr.io/butlerdotdev/steward:v${version}`, 'Steward', manager),
    add(`ghcr.io/butlerdotdev/steward:v${version}-helm`, 'cluster stacks', manager),
    add(managerFlags['kine-image'].value, 'PostgreSQL, MySQL, NATS', '`--kine-image`'),
    ...[...quickStarts].map(([neededBy, image]) =>
      add(image, neededBy, '`images` of a kustomization; of etcd also `etcd.image` of the chart'),
    ),
    add(defaultProxyImage, 'tcpProxy', '`spec.addons.tcpProxy.image`'),
    add(
      'ghcr.io/butlerdotdev/steward-trustd',
      'workerBootstrap',
      '`spec.addons.workerBootstrap.talos.image`, `imageTag`',
    ),
  ];
}
