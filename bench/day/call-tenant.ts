import { setTimeout as pause } from 'node:timers/promises';

import type { Progress } from '../../e2e/cluster/machines/supplies.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import type { DayCall } from './day-trace.ts';

/**
 * After a first call, so long until the next one: two readings of the use. The control plane's own parts open watches when it starts; those that
 * open between the same two readings in which a person calls would count as the person's for an hour.
 */
const wokenMs = 125_000;

/** What was seen of one tenant. */
export interface SeenTenant {
  readonly kubeconfig: string;
  readonly firstMs: number[];
  readonly otherMs: number[];
  readonly failed: string[];
  readonly late: string[];
  /** When somebody called first who has not been answered yet, by the monotonic clock. */
  waitsSince: number | undefined;
}

/** Calls as a person does, and notes how long it took. */
export async function callTenant(
  cluster: ManagementCluster,
  { tenant, isFirst, seen, progress }: DayCall & { readonly seen: SeenTenant; readonly progress: Progress },
): Promise<void> {
  const now = performance.now();
  if (isFirst) seen.waitsSince = now;
  const began = seen.waitsSince ?? now;
  try {
    await cluster.kubectl(['--kubeconfig', seen.kubeconfig, 'get', 'namespaces', '--output', 'name']);
  } catch (error) {
    progress(tenant, `a call failed: ${(error as Error).message}`);
    seen.failed.push((error as Error).message);
    return;
  }
  const ms = performance.now() - began;
  seen[seen.waitsSince === undefined ? 'otherMs' : 'firstMs'].push(ms);
  if (seen.waitsSince === undefined) return;
  seen.waitsSince = undefined;
  progress(tenant, `first call answered after ${(ms / 1000).toFixed(1)} s`);
  await pause(wokenMs);
}
