import { kinds } from '../../../../api/core/kinds.ts';
import type { KindRef } from '../../../../api/meta.ts';

/** The kinds of the objects that the agents need inside a tenant. */
export const agentKinds: readonly KindRef[] = [
  kinds.ServiceAccount,
  kinds.ClusterRoleBinding,
  kinds.Deployment,
  kinds.DaemonSet,
];
