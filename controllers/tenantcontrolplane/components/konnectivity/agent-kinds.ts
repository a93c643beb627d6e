import { kinds } from '../../../../api/core/kinds.ts';
import type { KindRef } from '../../../../api/meta.ts';

/** The kinds of what agents are made of inside a tenant. */
export const agentKinds: readonly KindRef[] = [
  kinds.ServiceAccount,
  kinds.ClusterRoleBinding,
  kinds.Deployment,
  kinds.DaemonSet,
];
