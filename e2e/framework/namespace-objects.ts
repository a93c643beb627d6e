import type { ManagementCluster } from '../cluster/management-cluster.ts';

/** Kinds that come and go by themselves, and what Kubernetes makes for every Service and every Deployment. */
const passing = /^(events|events\.events\.k8s\.io|leases\..*|pods\.metrics\..*|.*\.metrics\.k8s\.io)$/;

/**
 * Everything that a namespace holds, of every kind that its API server knows, as `<kind>.<group>/<name>` in order.
 * Events and leases are left out.
 */
export async function namespaceObjects(cluster: ManagementCluster, namespace: string): Promise<readonly string[]> {
  const { stdout: kinds } = await cluster.kubectl(['api-resources', '--verbs=list', '--namespaced', '-o', 'name']);
  const listed = kinds.split('\n').filter((kind) => kind !== '' && !passing.test(kind));
  const { stdout } = await cluster.kubectl(['get', listed.join(','), '-n', namespace, '-o', 'name']);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .toSorted();
}
