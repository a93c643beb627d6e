import { setTimeout as pause } from 'node:timers/promises';

import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';

/** How long a deletion took, in milliseconds. */
export interface Deletion {
  readonly goneMs: number;
  readonly podsGoneMs: number;
}

/** Deletes all objects of some kinds in a namespace by one `kubectl delete`, and waits until its pods are gone. */
export async function deletedAtOnce(
  cluster: ManagementCluster,
  { namespace, kinds, timeoutMs }: { readonly namespace: string; readonly kinds: string; readonly timeoutMs: number },
): Promise<Deletion> {
  const began = performance.now();
  const limit = `--timeout=${Math.round(timeoutMs / 1000)}s`;
  await cluster.kubectl(['-n', namespace, 'delete', kinds, '--all', limit], { timeoutMs: timeoutMs + 10_000 });
  const goneMs = performance.now() - began;
  while ((await cluster.client.list('v1', 'Pod', namespace)).length > 0) {
    if (performance.now() - began > timeoutMs)
      throw new Error(`Pods of ${namespace} do not end.\n${await cluster.diagnose(namespace)}`);
    await pause(100);
  }
  return { goneMs, podsGoneMs: performance.now() - began };
}
