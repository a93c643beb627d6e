import { readFile } from 'node:fs/promises';

import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { metricSamples } from './metric-samples.ts';
import { readProcessUsage } from './process-usage.ts';
import type { ProcessUsage } from './process-usage.ts';
import { managerDeployment } from '../steward-cluster.ts';

/** The running manager, seen from outside. */
export interface ManagerProcess {
  /** Process id on this host. */
  readonly pid: number;
  /** Where it serves its metrics. */
  readonly metrics: string;
}

/** One sample of the manager. */
export interface ManagerSample extends ProcessUsage {
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
  /** Requests to API servers since its start, by the host that they went to; empty when it does not count them. */
  readonly requests: Readonly<Record<string, number>>;
}

const selector = 'control-plane=controller-manager';

/** Ends the manager's pods and waits until a new one is ready: what an earlier figure left in its memory is gone then. */
export async function restartManager(cluster: ManagementCluster): Promise<ManagerProcess> {
  const { namespace } = managerDeployment;
  const before = await cluster.client.list('v1', 'Pod', namespace, selector);
  for (const { metadata } of before) {
    await cluster.client.delete({ apiVersion: 'v1', kind: 'Pod', namespace, name: metadata?.name ?? '' });
    const address = { apiVersion: 'v1', kind: 'Pod', namespace, name: metadata?.name ?? '' };
    await cluster.waitFor(address, (pod) => pod === undefined, { what: 'being gone' });
  }
  await cluster.waitFor(managerDeployment, 'Available', { timeoutMs: 120_000 });
  return findManager(cluster);
}

/**
 * Finds the one pod of the manager and its process.
 * @throws Error when there is not exactly one.
 */
async function findManager(cluster: ManagementCluster): Promise<ManagerProcess> {
  const pods = await cluster.client.list('v1', 'Pod', managerDeployment.namespace, selector);
  const [pod, more] = pods.filter(({ metadata }) => !('deletionTimestamp' in (metadata ?? {})));
  if (pod === undefined || more !== undefined)
    throw new Error(`One pod of the manager is needed, there are ${pods.length}.`);
  const uid = pod.metadata?.uid ?? '';
  for (const { pid } of await cluster.machine.processes()) {
    if (await isManager(pid, uid)) return { pid, metrics: `http://${addressOf(pod)}:8080/metrics` };
  }
  throw new Error(`No process of pod ${pod.metadata?.name ?? ''} was found.`);
}

/** kubelet names a pod's cgroup after its UID; besides the manager only the pause container runs in it. */
async function isManager(pid: number, uid: string): Promise<boolean> {
  try {
    const [cgroup, command] = await Promise.all(
      ['cgroup', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')),
    );
    const isOfPod = [uid, uid.replaceAll('-', '_')].some((form) => cgroup?.includes(form));
    return isOfPod && (command ?? '').includes('manager');
  } catch (error) {
    // A process may end between the list and the look.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

function addressOf({ status }: PlainObject): string {
  return String(status?.podIP);
}

/** Samples the manager. */
export async function sampleManager({ pid, metrics }: ManagerProcess): Promise<ManagerSample> {
  const answer = await fetch(metrics, { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`${metrics} answered ${answer.status}.`);
  const requests: Record<string, number> = {};
  for (const { labels, value } of metricSamples(await answer.text(), 'rest_client_requests_total')) {
    const host = labels.host ?? '';
    requests[host] = (requests[host] ?? 0) + value;
  }
  return { at: performance.now(), requests, ...(await readProcessUsage(pid)) };
}
