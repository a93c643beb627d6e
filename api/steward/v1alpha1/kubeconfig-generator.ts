import { core } from '../../core/core-schema.ts';
import { stewardGroup } from '../../names.ts';
import { conditionList } from '../../embedded/condition-list.ts';
import type { Infer, Input, Kind, ObjectOf } from '../../schema.ts';
import { described, int32, int64, list, obj, opt, str } from '../../schema.ts';

/** A value, or where in a TenantControlPlane to find it. */
const compoundValue = obj(
  {
    stringValue: opt(described(str(), 'The value itself.')),
    fromDefinition: opt(
      described(str(), 'Path of dots to a string field of the TenantControlPlane, e.g. `metadata.name`.'),
    ),
  },
  {
    rule: '(has(self.stringValue) || has(self.fromDefinition)) && !(has(self.stringValue) && has(self.fromDefinition))',
    message: 'Either stringValue or fromDefinition must be set, but not both.',
  },
);

const kubeconfigGeneratorSpec = obj({
  namespaceSelector: opt(described(core('LabelSelector'), 'Namespaces of the TenantControlPlanes; all when empty.')),
  tenantControlPlaneSelector: opt(
    described(core('LabelSelector'), 'TenantControlPlanes to generate for; all when empty.'),
  ),
  groups: opt(described(list(compoundValue), "Organizations of the certificate's subject.")),
  user: described(compoundValue, "Common name of the certificate's subject."),
  controlPlaneEndpointFrom: opt(
    described(str(), 'Key in the admin kubeconfig Secret whose server is used.'),
    'admin.svc',
  ),
});
export type KubeconfigGeneratorSpec = Infer<typeof kubeconfigGeneratorSpec>;
export type KubeconfigGeneratorSpecInput = Input<typeof kubeconfigGeneratorSpec>;

const kubeconfigGeneratorStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
  resources: opt(described(int32(), 'TenantControlPlanes that are selected.'), 0),
  availableResources: opt(described(int32(), 'Those that have their kubeconfig.'), 0),
  errors: opt(
    described(
      list(
        obj({
          resource: described(str(), 'The TenantControlPlane as `namespace/name`.'),
          message: described(str(), 'Why it has no kubeconfig.'),
        }),
      ),
      'TenantControlPlanes that have no kubeconfig.',
    ),
  ),
});
export type KubeconfigGeneratorStatus = Infer<typeof kubeconfigGeneratorStatus>;

/** Makes kubeconfigs for users of many tenants. */
export const kubeconfigGenerator: Kind<
  KubeconfigGeneratorSpec,
  KubeconfigGeneratorStatus,
  KubeconfigGeneratorSpecInput
> = {
  group: stewardGroup,
  version: 'v1alpha1',
  kind: 'KubeconfigGenerator',
  plural: 'kubeconfiggenerators',
  namespaced: false,
  singular: 'kubeconfiggenerator',
  listKind: 'KubeconfigGeneratorList',
  shortNames: ['kc'],
  categories: ['steward'],
  versions: [{ name: 'v1alpha1', served: true, storage: true }],
  description: 'Makes kubeconfigs for a user of every TenantControlPlane that it selects.',
  spec: kubeconfigGeneratorSpec,
  status: kubeconfigGeneratorStatus,
  columns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
};

export type KubeconfigGenerator = ObjectOf<typeof kubeconfigGenerator>;
