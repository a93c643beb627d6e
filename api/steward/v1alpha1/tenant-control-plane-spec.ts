import { core } from '../../core/core-schema.ts';
import { addonFields } from '../../embedded/addons.ts';
import type { CelRule, Infer } from '../../schema.ts';
import { bool, described, list, obj, opt, ruled, str } from '../../schema.ts';
import { controlPlaneSpec } from './control-plane-spec.ts';
import { dataStoreTolerations } from './data-store-placement.ts';
import { kubernetesSpec } from './kubernetes-spec.ts';
import { networkProfile } from './network-profile.ts';

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

/** DataStore of a single resource, as in kube-apiserver's `--etcd-servers-overrides`. */
export const dataStoreOverride = obj({
  resource: opt(
    described(
      str(),
      'Resource as `group/resource`, e.g. `/events`. Must be built into kube-apiserver; custom resources are not supported.',
    ),
  ),
  dataStore: opt(
    described(str(), 'Name of a DataStore with driver etcd. Must differ from the one of all other resources.'),
  ),
});

/** Desired state of a TenantControlPlane. */
export const tenantControlPlaneSpec = obj(
  {
    dataStore: opt(
      described(
        str(),
        'Name of the DataStore. If empty, the manager sets its default (`--datastore`) or chooses one. Changing it migrates the data.',
      ),
    ),
    dataStoreSelector: opt(
      described(
        core('LabelSelector'),
        'Label selector for the DataStores in which the tenant may be placed. Evaluated once, before the tenant has data.',
      ),
    ),
    dataStoreTolerations: opt(
      described(dataStoreTolerations, 'Tolerations for DataStore taints, evaluated at placement.'),
    ),
    dataStoreSchema: opt(
      described(
        ruled(str(), immutable('dataStoreSchema')),
        'Prefix, database or bucket in the datastore. Generated if empty.',
      ),
    ),
    dataStoreUsername: opt(
      described(ruled(str(), immutable('dataStoreUsername')), 'User in the datastore. Generated if empty.'),
    ),
    dataStoreOverrides: opt(
      described(
        list(dataStoreOverride),
        'Resources that are stored in another DataStore. All of these DataStores and `dataStore` must have driver etcd. Once the control plane has run, only the DataStore of `/events` may change, and existing Events are lost. Objects of other resources would be left behind.',
      ),
    ),
    writePermissions: opt(
      described(
        obj({
          blockCreation: opt(bool()),
          blockUpdate: opt(bool()),
          blockDeletion: opt(bool()),
        }),
        'Write operations that are denied in the tenant.',
      ),
    ),
    controlPlane: described(controlPlaneSpec, 'How the control plane runs and how it is exposed.'),
    kubernetes: described(kubernetesSpec, 'Kubernetes version and settings of the control plane.'),
    networkProfile: opt(described(networkProfile, 'Networks of the tenant and address of its endpoint.'), {}),
    addons: opt(
      described(obj(addonFields), 'Add-ons of the tenant. Each one is enabled by the presence of its object.'),
      {},
    ),
  },
  {
    rule: '!(has(self.dataStoreSelector) && has(self.dataStore) && size(self.dataStore) > 0)',
    message: 'dataStore and dataStoreSelector are mutually exclusive: remove one of them',
  },
  unsetting('dataStore'),
  unsetting('dataStoreSchema'),
  unsetting('dataStoreUsername'),
  ...onlyLoadBalancers,
);
export type TenantControlPlaneSpec = Infer<typeof tenantControlPlaneSpec>;
