import { isFirstSpec } from '../../../../api/steward/v1alpha1/is-first-spec.ts';
import { kubeProxy as manifests } from '../../../../kubeadm/kube-proxy.ts';
import { joinHostPort } from '../../../../kubeadm/networks.ts';
import { needed } from '../../scope.ts';
import { tenantKinds } from '../../shared/tenant-kinds.ts';
import { tenantNetworks } from '../../shared/tenant-networks.ts';
import { targetVersion } from '../../upgrade/upgrade-decision.ts';
import type { Addon } from '../addon.ts';

/** kube-proxy, which dials the endpoint in use. */
export const kubeProxy: Addon<'kubeProxy'> = {
  name: 'kubeProxy',
  images: ({ spec: { addons } }) => [
    ['spec.addons.kubeProxy.imageRepository', addons.kubeProxy?.imageRepository, 'registry'],
    ['spec.addons.kubeProxy.imageTag', addons.kubeProxy?.imageTag, 'tag'],
  ],
  inside: {
    component: 'kube-proxy',
    kinds: tenantKinds,
    before: ['unpublication'],
    isLeft: ({ tcp }) => !isFirstSpec(tcp),
    wanted(scope) {
      const { spec } = scope.tcp;
      const { host, hostPort } = needed(scope.endpoint, 'endpoint');
      const set = manifests({
        version: targetVersion(scope),
        controlPlaneEndpoint: joinHostPort(host, hostPort),
        podCidr: tenantNetworks({ spec }).pods.value,
        image: spec.addons.kubeProxy ?? {},
        pod: spec.addons.kubeProxy ?? {},
      });
      return { set: { manifests: set, prunes: [] } };
    },
  },
};
