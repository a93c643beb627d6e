import { readFile } from 'node:fs/promises';

import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { readProcessUsage } from '../footprint/process-usage.ts';
import type { ProcessUsage } from '../footprint/process-usage.ts';

/** The processes of all pods of a namespace, by their ids on this host. */
export async function podProcesses(cluster: ManagementCluster, namespace: string): Promise<readonly number[]> {
  const pods = await cluster.client.list('v1', 'Pod', namespace);
  return processesOf(
    cluster,
    pods.flatMap(({ metadata }) => (metadata?.uid === undefined ? [] : [metadata.uid])),
  );
}

/** The processes of pods with these UIDs, after which kubelet names their cgroups. */
export async function processesOf(cluster: ManagementCluster, uids: readonly string[]): Promise<readonly number[]> {
  const forms = uids.flatMap((uid) => [uid, uid.replaceAll('-', '_')]);
  const found: number[] = [];
  for (const { pid } of await cluster.machine.processes()) {
    const cgroup = await cgroupOf(pid);
    if (forms.some((form) => cgroup.includes(form))) found.push(pid);
  }
  return found;
}

/** What these processes use together. */
export async function usageOf(pids: readonly number[]): Promise<ProcessUsage> {
  const all = await Promise.all(pids.map(readProcessUsage));
  const sum = (field: keyof ProcessUsage): number => all.reduce((total, one) => total + one[field], 0);
  return { rssMiB: sum('rssMiB'), anonymousMiB: sum('anonymousMiB'), cpuSeconds: sum('cpuSeconds') };
}

async function cgroupOf(pid: number): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/cgroup`, 'utf8');
  } catch (error) {
    // A process may end between the list and the look.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}
