import type { ManagementCluster } from '../../cluster/management-cluster.ts';

/** A token of a service account of its own, which may read the metrics of the manager, or may do nothing. */
export async function accountToken(
  cluster: ManagementCluster,
  account: string,
  readsMetrics: boolean,
): Promise<string> {
  const metadata = { name: account, namespace: 'default' };
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: account },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'steward-metrics-reader' },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  };
  const serviceAccount = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
  await cluster.apply([serviceAccount, ...(readsMetrics ? [binding] : [])]);
  return (await cluster.kubectl(['-n', 'default', 'create', 'token', account])).stdout.trim();
}
