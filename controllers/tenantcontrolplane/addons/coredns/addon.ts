import { isFirstSpec } from '../../../../api/steward/v1alpha1/is-first-spec.ts';
import { coreDns } from '../../../../kubeadm/coredns.ts';
import { tenantKinds } from '../../shared/tenant-kinds.ts';
import { tenantNetworks } from '../../shared/tenant-networks.ts';
import { targetVersion } from '../../upgrade/upgrade-decision.ts';
import type { Addon } from '../addon.ts';

/** CoreDNS. The Corefile and the number of replicas are written once: they belong to the tenant's administrators. */
export const coreDNS: Addon<'coreDNS'> = {
  name: 'coreDNS',
  images: ({ spec: { addons } }) => [
    ['spec.addons.coreDNS.imageRepository', addons.coreDNS?.imageRepository, 'registry'],
    ['spec.addons.coreDNS.imageTag', addons.coreDNS?.imageTag, 'tag'],
  ],
  inside: {
    component: 'coredns',
    kinds: tenantKinds,
    isLeft: ({ tcp }) => !isFirstSpec(tcp),
    wanted(scope) {
      const { spec } = scope.tcp;
      const { clusterDomain, dnsServiceIPs } = spec.networkProfile;
      const { managed, createOnly } = coreDns({
        version: targetVersion(scope),
        clusterDomain,
        serviceCidr: tenantNetworks({ spec }).services.value,
        dnsServiceIPs,
        image: spec.addons.coreDNS ?? {},
        pod: spec.addons.coreDNS ?? {},
      });
      return { set: { manifests: managed, createOnly, preservedReplicas: true, prunes: [] } };
    },
  },
};
