import { readFile } from 'node:fs/promises';

import { isMissing } from '../cluster/machines/is-missing.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';

/**
 * Memory in MiB that the processes of a pod hold, by command name. Pages that several processes share count for each in part
 * (PSS), so that the sum is what the pod costs.
 */
export async function podMemory(cluster: ManagementCluster, podUid: string): Promise<ReadonlyMap<string, number>> {
  const memory = new Map<string, number>();
  for (const { pid, command } of await cluster.machine.processes()) {
    const group = await textOf(`/proc/${pid}/cgroup`);
    if (!group.includes(podUid)) continue;
    const kibibytes = Number(/^Pss:\s+(\d+) kB$/m.exec(await textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
    memory.set(command, (memory.get(command) ?? 0) + kibibytes / 1024);
  }
  return memory;
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    // The process has ended since it was listed.
    if (isMissing(error)) return '';
    throw error;
  });
}
