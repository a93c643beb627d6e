import { core } from '../../core/core-schema.ts';
import { addonImageFields, konnectivity, tcpProxy, workerBootstrap } from '../../embedded/addons.ts';
import type { CelRule, Infer } from '../../schema.ts';
import { bool, described, list, obj, opt, ruled, str } from '../../schema.ts';
import { controlPlaneSpec } from './control-plane-spec.ts';
import { dataStoreTolerations } from './data-store-placement.ts';
import { kubernetesSpec } from './kubernetes-spec.ts';
import { networkProfile } from './network-profile.ts';

/** Add-ons that are installed in the tenant; presence of an object enables it. */
const addons = obj({
  coreDNS: opt(described(obj(addonImageFields), 'Cluster DNS.')),
  kubeProxy: opt(described(obj(addonImageFields), 'Service proxy on every node.')),
  konnectivity: opt(described(konnectivity, 'Tunnel from kube-apiserver to nodes and pods.')),
  tcpProxy: opt(described(tcpProxy, 'Proxy to an API server that is published under a host name.')),
  workerBootstrap: opt(described(workerBootstrap, 'Bootstrap of workers that do not use kubeadm.')),
});

const unsetting = (field: string): CelRule => ({
  rule: `!has(oldSelf.${field}) || has(self.${field})`,
  message: `unsetting the ${field} is not supported`,
});

const onlyLoadBalancers: readonly CelRule[] = [
  {
    rule: "!has(self.networkProfile.loadBalancerSourceRanges) || (size(self.networkProfile.loadBalancerSourceRanges) == 0 || self.controlPlane.service.serviceType == 'LoadBalancer')",
    message: 'LoadBalancer source ranges are supported only with LoadBalancer service type',
  },
  {
    rule: "!has(self.networkProfile.loadBalancerClass) || self.controlPlane.service.serviceType == 'LoadBalancer'",
    message: 'LoadBalancerClass is supported only with LoadBalancer service type',
  },
  {
    rule: "self.controlPlane.service.serviceType != 'LoadBalancer' || (oldSelf.controlPlane.service.serviceType != 'LoadBalancer' && self.controlPlane.service.serviceType == 'LoadBalancer') || has(self.networkProfile.loadBalancerClass) == has(oldSelf.networkProfile.loadBalancerClass)",
    message: 'LoadBalancerClass cannot be set or unset at runtime',
  },
];

const immutable = (field: string): CelRule => ({
  rule: 'self == oldSelf',
  message: `changing the ${field} is not supported`,
});

/** Store of one resource, as in kube-apiserver's `--etcd-servers-overrides`. */
export const dataStoreOverride = obj({
  resource: opt(
    described(
      str(),
      'Resource as `group/resource`, e.g. `/events`: one that kube-apiserver itself stores, no custom one.',
    ),
  ),
  dataStore: opt(described(str(), 'Name of a DataStore with driver etcd, not that of everything else.')),
});

/** What a TenantControlPlane is asked to be. */
export const tenantControlPlaneSpec = obj(
  {
    dataStore: opt(
      described(
        str(),
        'Name of the DataStore; the operator chooses its default when empty. A change migrates the data.',
      ),
    ),
    dataStoreSelector: opt(
      described(
        core('LabelSelector'),
        'Labels of the DataStores that the tenant may be placed in; looked at once, before the tenant has data.',
      ),
    ),
    dataStoreTolerations: opt(
      described(dataStoreTolerations, 'Taints of DataStores that the tenant puts up with when it is placed.'),
    ),
    dataStoreSchema: opt(
      described(
        ruled(str(), immutable('dataStoreSchema')),
        'Prefix, database or bucket in the store; chosen by the operator when empty.',
      ),
    ),
    dataStoreUsername: opt(
      described(ruled(str(), immutable('dataStoreUsername')), 'User in the store; chosen by the operator when empty.'),
    ),
    dataStoreOverrides: opt(
      described(
        list(dataStoreOverride),
        'Resources that are kept in another DataStore; all of them and `dataStore` have driver etcd. Once the control plane has run only `/events` may change its place, and loses what it has: objects of other resources would stay behind.',
      ),
    ),
    writePermissions: opt(
      described(
        obj({
          blockCreation: opt(bool()),
          blockUpdate: opt(bool()),
          blockDeletion: opt(bool()),
        }),
        'Writes that the tenant is denied.',
      ),
    ),
    controlPlane: described(controlPlaneSpec, 'How the control plane runs and how it is reached.'),
    kubernetes: described(kubernetesSpec, 'What runs in the control plane.'),
    networkProfile: opt(described(networkProfile, 'Networks of the tenant and address of its endpoint.'), {}),
    addons: opt(described(addons, 'Add-ons in the tenant; presence of an object enables it.'), {}),
  },
  {
    rule: '!(has(self.dataStoreSelector) && has(self.dataStore) && size(self.dataStore) > 0)',
    message: 'dataStore and dataStoreSelector exclude each other: name a DataStore or let one be chosen',
  },
  unsetting('dataStore'),
  unsetting('dataStoreSchema'),
  unsetting('dataStoreUsername'),
  ...onlyLoadBalancers,
);
export type TenantControlPlaneSpec = Infer<typeof tenantControlPlaneSpec>;
