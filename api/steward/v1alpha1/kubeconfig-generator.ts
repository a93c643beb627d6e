import { core } from '../../core/core-schema.ts';
import { stewardGroup } from '../../names.ts';
import { conditionList } from '../../embedded/condition-list.ts';
import type { Infer, Input, Kind, ObjectOf } from '../../schema.ts';
import { described, int32, int64, list, obj, opt, str } from '../../schema.ts';

/** A literal value, or the path of a field of the TenantControlPlane that holds it. */
const compoundValue = obj(
  {
    stringValue: opt(described(str(), 'Literal value.')),
    fromDefinition: opt(
      described(str(), 'Dot-separated path of a string field of the TenantControlPlane, e.g. `metadata.name`.'),
    ),
  },
  {
    rule: '(has(self.stringValue) || has(self.fromDefinition)) && !(has(self.stringValue) && has(self.fromDefinition))',
    message: 'Either stringValue or fromDefinition must be set, but not both.',
  },
);

const kubeconfigGeneratorSpec = obj({
  namespaceSelector: opt(
    described(
      core('LabelSelector'),
      'Label selector for the namespaces of TenantControlPlanes. If empty, all namespaces match.',
    ),
  ),
  tenantControlPlaneSelector: opt(
    described(
      core('LabelSelector'),
      'Label selector for the TenantControlPlanes that get a kubeconfig. If empty, all match.',
    ),
  ),
  groups: opt(
    described(list(compoundValue), 'Groups of the user: the organizations in the subject of the certificate.'),
  ),
  user: described(compoundValue, 'Name of the user: the common name in the subject of the certificate.'),
  controlPlaneEndpointFrom: opt(
    described(str(), 'Key in the admin kubeconfig Secret from which the server address is taken.'),
    'admin.svc',
  ),
});
export type KubeconfigGeneratorSpec = Infer<typeof kubeconfigGeneratorSpec>;
export type KubeconfigGeneratorSpecInput = Input<typeof kubeconfigGeneratorSpec>;

const kubeconfigGeneratorStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
  resources: opt(described(int32(), 'Number of selected TenantControlPlanes.'), 0),
  availableResources: opt(described(int32(), 'Number of selected TenantControlPlanes that have their kubeconfig.'), 0),
  errors: opt(
    described(
      list(
        obj({
          resource: described(str(), 'TenantControlPlane, as `namespace/name`.'),
          message: described(str(), 'Why the TenantControlPlane has no kubeconfig.'),
        }),
      ),
      'Selected TenantControlPlanes that have no kubeconfig.',
    ),
  ),
});
export type KubeconfigGeneratorStatus = Infer<typeof kubeconfigGeneratorStatus>;

/** Generates kubeconfigs for a user of many tenants. */
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
  description: 'Generates a kubeconfig for the same user in every selected TenantControlPlane.',
  spec: kubeconfigGeneratorSpec,
  status: kubeconfigGeneratorStatus,
  columns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
};

export type KubeconfigGenerator = ObjectOf<typeof kubeconfigGenerator>;
