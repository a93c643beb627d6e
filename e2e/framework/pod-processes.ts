import { readFile } from 'node:fs/promises';

import type { ManagementCluster } from '../cluster/management-cluster.ts';

/** The programs of Kubernetes that run in a pod of the management node, by the pod's UID. */
export async function podProcesses(
  cluster: ManagementCluster,
  uid: string,
): Promise<readonly { readonly pid: number; readonly command: string }[]> {
  const found = await Promise.all(
    (await cluster.machine.processes()).map(async (process) => {
      const cgroup = await readFile(`/proc/${process.pid}/cgroup`, 'utf8').catch(() => '' /* it has ended meanwhile */);
      return cgroup.includes(uid) && process.command.startsWith('kube-') ? [process] : [];
    }),
  );
  return found.flat();
}
