import { conditionList } from '../../../embedded/condition-list.ts';
import { stewardGroup } from '../../../names.ts';
import type { Infer, Input, NamespacedKind, ObjectOf } from '../../../schema.ts';
import { described, int64, obj, oneOf, opt, ruled, str, time } from '../../../schema.ts';
import { longestPoolName } from './control-plane-pool.ts';

/** The name of a claim is the common name in its certificate, which has at most 64 characters (RFC 5280). */
export const longestClaimName = 63;

const controlPlaneClaimSpec = obj({
  pool: described(
    ruled(str({ minLength: 1, maxLength: longestPoolName }), {
      rule: 'self == oldSelf',
      message: 'the pool cannot be changed',
    }),
    'Name of the ControlPlanePool, in the namespace of the claim.',
  ),
  deletionPolicy: opt(
    described(
      oneOf('Delete', 'Retain'),
      'Whether the deletion of the claim deletes its control plane with everything in it, or leaves it.',
    ),
    'Delete',
  ),
});
export type ControlPlaneClaimSpec = Infer<typeof controlPlaneClaimSpec>;
export type ControlPlaneClaimSpecInput = Input<typeof controlPlaneClaimSpec>;

const controlPlaneClaimStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
  tenantControlPlane: opt(
    described(str(), 'Name of the TenantControlPlane that the claim got. It never gets another one.'),
  ),
  kubeconfigSecret: opt(
    described(str(), 'Name of the Secret with the kubeconfig of the claimant, whose key is `value`.'),
  ),
  boundTime: opt(described(time(), 'Time at which the claim got its control plane.')),
});
export type ControlPlaneClaimStatus = Infer<typeof controlPlaneClaimStatus>;

/** Asks for one control plane of a pool, which then belongs to the claim alone. */
export const controlPlaneClaim: NamespacedKind<
  ControlPlaneClaimSpec,
  ControlPlaneClaimStatus,
  ControlPlaneClaimSpecInput
> = {
  group: stewardGroup,
  version: 'v1alpha1',
  kind: 'ControlPlaneClaim',
  plural: 'controlplaneclaims',
  namespaced: true,
  singular: 'controlplaneclaim',
  listKind: 'ControlPlaneClaimList',
  shortNames: ['cpc'],
  categories: ['steward'],
  versions: [{ name: 'v1alpha1', served: true, storage: true }],
  description: 'Takes one prepared control plane of a pool, which nobody has used before and nobody else gets.',
  rules: [
    {
      rule: `self.metadata.name.size() <= ${longestClaimName}`,
      message: `the name of a claim is that of the user in its certificate: use at most ${longestClaimName} characters`,
      fieldPath: '.metadata',
    },
  ],
  spec: controlPlaneClaimSpec,
  status: controlPlaneClaimStatus,
  columns: [
    { name: 'Pool', type: 'string', jsonPath: '.spec.pool' },
    { name: 'Bound', type: 'string', jsonPath: '.status.conditions[?(@.type=="Bound")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Bound")].reason' },
    { name: 'Control Plane', type: 'string', jsonPath: '.status.tenantControlPlane' },
    { name: 'Kubeconfig', type: 'string', jsonPath: '.status.kubeconfigSecret' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};

export type ControlPlaneClaim = ObjectOf<typeof controlPlaneClaim>;
