import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { tenantsThatFit } from '../fitting-tenants.ts';
import { footprintBetween } from '../footprint/footprint-between.ts';
import { restartManager, sampleManager } from '../footprint/manager-process.ts';
import { usageOfParts } from '../hardware/usage-of-parts.ts';
import type { CountedProcess } from '../hardware/usage-of-parts.ts';
import { podProcesses } from '../instant/pods-usage.ts';
import { tenant } from '../ready/tenant.ts';
import { ActivatorPods } from './activator-pods.ts';
import { Sleepers } from './sleepers.ts';
import type { SleepingRow } from './wake-rows.ts';

const namespace = 'wake-sleeping';

/** So many leave most of a processor idle: at rest, each takes 3 to 5 % of one, with its part of etcd. */
const awakePerProcessor = 6;

/** How much is measured. */
export interface SleepingOptions {
  /** Tenants that sleep. */
  readonly sleeping: number;
  /** Of these, how many are awake at the same time; if absent, as many as fit, and at most 6 for each processor. */
  readonly awake?: number;
  /** Seconds of rest before each look, and of it. */
  readonly idleSeconds: number;
}

/**
 * Looks at tenants at rest while they are awake and when they sleep. One that was never Ready is not put to sleep, so each of them starts
 * once: as many as may be awake are created, and the next ones when these sleep. The first of them are looked at while they are awake.
 */
export async function measureSleeping(
  cluster: ManagementCluster,
  { sleeping, awake = Math.min(sleeping, awakePerProcessor * availableParallelism()), idleSeconds }: SleepingOptions,
): Promise<readonly SleepingRow[]> {
  const { progress } = cluster.harness;
  await using sleepers = await Sleepers.open(cluster, namespace);
  const rows: SleepingRow[] = [];
  for (let made = 0; made < sleeping; made = sleepers.names.length) {
    const more = await tenantsThatFit(Math.min(awake, sleeping - made), progress);
    progress('wake, sleeping', `${more} tenants are created, ${made} sleep`);
    const names = Array.from({ length: more }, (_, index) => `tenant-${made + index}`);
    const version = cluster.machine.record.kubernetes;
    await sleepers.add(names.map((name) => tenant({ name, namespace, replicas: 1, version })));
    if (made === 0) rows.push(await atRest(cluster, sleepers, { state: 'awake', idleSeconds }));
    progress('wake, sleeping', `${more} tenants fall asleep`);
    await Promise.all(names.map((name) => sleepers.letSleep(name)));
    for (const name of names) await sleepers.untilAsleep(name);
  }
  rows.push(await atRest(cluster, sleepers, { state: 'asleep', idleSeconds }));
  return rows;
}

async function atRest(
  cluster: ManagementCluster,
  sleepers: Sleepers,
  { state, idleSeconds }: { readonly state: SleepingRow['state']; readonly idleSeconds: number },
): Promise<SleepingRow> {
  const { progress, signal } = cluster.harness;
  const tenants = sleepers.names.length;
  // What their creation left in its memory is gone then.
  const manager = await restartManager(cluster);
  progress('wake, sleeping', `${tenants} tenants rest ${state} for ${idleSeconds} s, then are looked at for as long`);
  await pause(idleSeconds * 1000, undefined, { signal });
  const processes = async (): Promise<readonly CountedProcess[]> =>
    (await podProcesses(cluster, namespace)).map((pid) => ({ pid, part: 'control planes' }));
  const from = await sampleManager(manager);
  const [ofPods] = await usageOfParts(processes, { seconds: idleSeconds, signal });
  const to = await sampleManager(manager);
  const seconds = (to.at - from.at) / 1000;
  const { rssMiB, anonymousMiB, milliCpu, requestsPerSecond } = footprintBetween({
    ...{ tenants: [tenants, tenants], atStart: from, created: from, rested: [from, to] },
  });
  const pods = await cluster.client.list('v1', 'Pod', namespace);
  const activators = await ActivatorPods.find(cluster);
  const row: SleepingRow = {
    ...{ stage: 'sleeping', state, tenants, seconds, pods: pods.length },
    ...{ podsPssMiB: ofPods?.pssMiB ?? 0, podsAnonymousMiB: ofPods?.anonymousMiB ?? 0 },
    podsMilliCpu: ofPods?.milliCpu ?? 0,
    manager: { rssMiB, anonymousMiB, milliCpu, ...(requestsPerSecond !== undefined && { requestsPerSecond }) },
    activatorMiB: await activators.memory(),
    awoken: state === 'asleep' ? await sleepers.awoken() : 0,
  };
  progress('wake, sleeping', JSON.stringify(row));
  return row;
}
