import { setTimeout as pause } from 'node:timers/promises';

import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { podProcesses, usageOf } from '../instant/pods-usage.ts';
import type { PodNeeds } from './day-rows.ts';

/** How long the pods are left alone after their start, and then measured. */
const [settleMs, measuredMs] = [60_000, 60_000];

/**
 * What a pod takes while nobody calls: an average over all of a namespace.
 * @throws Error when there are more or fewer pods than tenants, before or after.
 */
export async function podNeeds(cluster: ManagementCluster, namespace: string, tenants: number): Promise<PodNeeds> {
  await pause(settleMs);
  await expectPods(cluster, namespace, tenants);
  const pids = await podProcesses(cluster, namespace);
  const [before, from] = [await usageOf(pids), performance.now()];
  await pause(measuredMs);
  const [after, to] = [await usageOf(pids), performance.now()];
  await expectPods(cluster, namespace, tenants);
  const cores = (after.cpuSeconds - before.cpuSeconds) / ((to - from) / 1000) / tenants;
  return { memoryMiB: after.anonymousMiB / tenants, cores };
}

async function expectPods(cluster: ManagementCluster, namespace: string, tenants: number): Promise<void> {
  const { length } = await cluster.client.list('v1', 'Pod', namespace);
  if (length !== tenants) throw new Error(`${namespace} has ${length} pods, of ${tenants} tenants with one each`);
}
