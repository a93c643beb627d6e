import type { KubernetesClient, ObjectAddress } from '../../cluster/kubernetes-client.ts';

/** A node as one is seen whose kubelet has this version and does nothing anymore; no pod gets there. */
export async function addOldKubelet(tenant: KubernetesClient, kubeletVersion: string): Promise<ObjectAddress> {
  const node: ObjectAddress = { apiVersion: 'v1', kind: 'Node', name: 'antique' };
  const { apiVersion, kind, name } = node;
  await tenant.apply([{ apiVersion, kind, metadata: { name }, spec: { unschedulable: true } }]);
  await tenant.merge(node, { status: { nodeInfo: { kubeletVersion } } }, 'status');
  return node;
}
