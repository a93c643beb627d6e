import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef } from '../../../api/meta.ts';

/** The kinds of the add-ons' objects inside tenants. */
export const tenantKinds: readonly KindRef[] = [
  kinds.ConfigMap,
  kinds.Role,
  kinds.RoleBinding,
  kinds.ClusterRole,
  kinds.ClusterRoleBinding,
  kinds.ServiceAccount,
  kinds.Service,
  kinds.Deployment,
  kinds.DaemonSet,
];

/** The kinds of the policies that deny writes inside tenants. */
export const policyKinds: readonly KindRef[] = [
  kinds.ValidatingAdmissionPolicy,
  kinds.ValidatingAdmissionPolicyBinding,
];

/** The kinds that hold the endpoints of a Service without a selector. */
export const endpointKinds: readonly KindRef[] = [kinds.Endpoints, kinds.EndpointSlice];
