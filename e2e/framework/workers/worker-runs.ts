import type { KubernetesClient } from '../../cluster/kubernetes-client.ts';
import type { Worker } from '../../cluster/worker.ts';

/** The kubelet's process of a worker, and how often the containers of the tenant's own pods were started. */
export async function workerRuns(client: KubernetesClient, worker: Worker | undefined): Promise<unknown> {
  if (worker === undefined) throw new Error('no worker has joined');
  const kubelets = (await worker.machine.processes()).filter(({ command }) => command === 'kubelet');
  const pods = await client.list('v1', 'Pod', 'default');
  const runs = pods.map(({ metadata, status }) => [
    metadata?.uid,
    ((status?.containerStatuses ?? []) as { restartCount: number }[]).map(({ restartCount }) => restartCount),
  ]);
  return { kubelets: kubelets.map(({ pid }) => pid), runs };
}
