import { kinds } from '../../api/core/kinds.ts';
import type { PolicyRule } from '../../api/meta.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';

const group = 'rbac.authorization.k8s.io';

/** Gives a user these rights in the whole cluster, by a role and a binding of the user's name. */
export async function grantUser(admin: Cluster, user: string, rules: readonly PolicyRule[]): Promise<void> {
  const metadata = { name: user };
  await admin.create(kinds.ClusterRole, { apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata, rules });
  await admin.create(kinds.ClusterRoleBinding, {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: user },
    subjects: [{ apiGroup: group, kind: 'User', name: user }],
  });
}
