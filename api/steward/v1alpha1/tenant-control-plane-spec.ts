import { addonFields, konnectivityHostnameRule } from '../../embedded/addons.ts';
import { dataStoreFields, placementFields } from '../../embedded/data-store-fields.ts';
import { sleepFields } from '../../embedded/sleep.ts';
import type { CelRule, Infer } from '../../schema.ts';
import { bool, described, obj, opt, ruled, str } from '../../schema.ts';
import { controlPlaneSpec } from './control-plane-spec.ts';
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

/** Desired state of a TenantControlPlane. */
export const tenantControlPlaneSpec = obj(
  {
    dataStore: opt(
      described(
        str(),
        'Name of the DataStore. If empty, the manager sets its default (`--datastore`) or chooses one. Changing it migrates the data. If this DataStore was drained, the data is in another one, and this value is ignored until it is changed.',
      ),
    ),
    ...placementFields,
    ...dataStoreFields,
    ...sleepFields,
    dataStoreSchema: opt(
      ruled(dataStoreFields.dataStoreSchema.optional, {
        rule: 'self == oldSelf',
        message: 'changing the dataStoreSchema is not supported',
      }),
    ),
    writePermissions: opt(
      described(
        obj({
          blockCreation: opt(described(bool(), 'Denies the creation of objects.')),
          blockUpdate: opt(described(bool(), 'Denies changes to objects.')),
          blockDeletion: opt(described(bool(), 'Denies the deletion of objects.')),
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
  konnectivityHostnameRule('has(self.controlPlane.ingress) || has(self.controlPlane.gateway)'),
);
export type TenantControlPlaneSpec = Infer<typeof tenantControlPlaneSpec>;
