import type { KubernetesClient } from '../../cluster/kubernetes-client.ts';
import type { Worker } from '../../cluster/worker.ts';

/** Closes the kubelet's port of a tenant's worker to all but the worker itself and its pods: then only konnectivity leads to it. */
export async function closeKubelet(worker: Worker, tenant: KubernetesClient): Promise<void> {
  const node = await tenant.read({ apiVersion: 'v1', kind: 'Node', name: worker.name });
  const rule = (...more: readonly string[]): readonly string[] => [
    ...['iptables', '-I', 'INPUT', '-p', 'tcp', '--dport', '10250'],
    ...more,
  ];
  // The last one is first.
  await worker.machine.exec(rule('-j', 'DROP'));
  for (const from of [String(node?.spec?.podCIDR), worker.address, '127.0.0.0/8']) {
    await worker.machine.exec(rule('-s', from, '-j', 'ACCEPT'));
  }
}
