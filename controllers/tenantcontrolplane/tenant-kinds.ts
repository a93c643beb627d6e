import { kinds } from '../../api/core/kinds.ts';
import type { KindRef } from '../../api/meta.ts';

/** The kinds of what add-ons are made of inside tenants. */
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

/** The kinds by which writes inside tenants are denied. */
export const policyKinds: readonly KindRef[] = [
  kinds.ValidatingAdmissionPolicy,
  kinds.ValidatingAdmissionPolicyBinding,
];

/** The kinds that say where a Service without pods of the tenant leads. */
export const endpointKinds: readonly KindRef[] = [kinds.Endpoints, kinds.EndpointSlice];
