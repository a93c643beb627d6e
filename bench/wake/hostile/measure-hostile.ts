import { setTimeout as pause } from 'node:timers/promises';

import type { ManagementCluster } from '../../../e2e/cluster/management-cluster.ts';
import { isCondition } from '../../../e2e/framework/tenant-stage.ts';
import { NeighborLoad } from '../../flood/neighbor-load.ts';
import type { CallsSeen } from '../../flood/neighbor-load.ts';
import { ActivatorPods } from '../activator-pods.ts';
import type { ActivatorCounts } from '../activator-pods.ts';
import { Sleepers } from '../sleepers.ts';
import type { HostileRow, NeighborCalls } from '../wake-rows.ts';
import { AttackWatch } from './attack-watch.ts';
import { runHostileCallers } from './run-hostile-callers.ts';
import type { HelloTarget } from './say-hello.ts';

const namespace = 'wake-hostile';
const neighbor = 'neighbor';
/** Tenants that sleep. */
const sleeping = ['shop-0', 'shop-1', 'shop-2', 'shop-3'] as const;

/** The hellos are said in so many seconds, at least so many in one. */
const attackSeconds = 60;
const leastPerSecond = 20;

/** The neighbor calls so long alone, and activators rest so long afterwards. */
const aloneMs = 30_000;
const restMs = 30_000;
const settleMs = 5_000;

/** Says hellos that wake nothing to tenants that sleep, while another one is called. */
export async function measureHostile(cluster: ManagementCluster, hellos: number): Promise<readonly HostileRow[]> {
  const { progress, signal } = cluster.harness;
  await using sleepers = await Sleepers.open(cluster, namespace);
  const { stage } = sleepers;
  await sleepers.add([...sleeping, neighbor].map((name) => stage.manifest(name)));
  const targets = await Promise.all(sleeping.map((name) => targetOf(sleepers, name)));
  const client = await stage.open(neighbor);
  for (const name of sleepers.names) await sleepers.letSleep(name);
  for (const name of sleepers.names) await sleepers.untilAsleep(name);
  const activators = await ActivatorPods.find(cluster);
  await pause(restMs, undefined, { signal });
  const before = await activators.memory();
  await using load = new NeighborLoad(client);
  // Its first call wakes the neighbor up. Connections that are kept lead through the activator from then on.
  await load.start();
  await stage.waitFor(neighbor, isCondition('Ready', 'True'));
  await pause(settleMs, undefined, { signal });
  await using watch = new AttackWatch(cluster, activators, namespace);
  const aloneFrom = Date.now();
  await pause(aloneMs, undefined, { signal });
  const aloneTo = Date.now();
  watch.takePeak();
  watch.takeRequested();
  const [counted, restarts] = [await activators.counts(), await activators.restarts()];
  progress('wake, hostile', `${hellos} hellos, ${counted.open} connections of the neighbor lead through the activator`);
  const from = Date.now();
  const perSecond = Math.max(hellos / attackSeconds, leastPerSecond);
  const outcome = await runHostileCallers({ targets, hellos, perSecond });
  const peak = { ...(await activators.memory()), ...watch.takePeak() };
  const outcomes = difference(counted, await activators.counts());
  await load.stop();
  await pause(restMs, undefined, { signal });
  const { fates } = outcome;
  const row: HostileRow = {
    ...{ stage: 'hostile', tenants: sleeping.length, hellos: outcome.hellos },
    seconds: (outcome.endedAt - from) / 1000,
    ...{ refused: fates.refused ?? 0, answered: fates.answered ?? 0, unclosed: fates.unclosed ?? 0 },
    outcomes,
    awoken: await sleepers.awoken(sleeping),
    requests: watch.takeRequested().length,
    activatorMiB: { before, peak, after: await activators.memory() },
    restarts: (await activators.restarts()) - restarts,
    passed: counted.open,
    neighbor: {
      alone: callsOf(load.between(aloneFrom, aloneTo)),
      beside: callsOf(load.between(from, outcome.endedAt)),
    },
    cpuPercent: outcome.cpuPercent,
  };
  progress('wake, hostile', JSON.stringify({ ...row, neighbor: undefined }));
  return [row];
}

async function targetOf({ stage }: Sleepers, name: string): Promise<HelloTarget> {
  const { controlPlaneEndpoint = '' } = await stage.waitFor(name, 'Ready');
  const { hostname, port } = new URL(`https://${controlPlaneEndpoint}`);
  return { host: hostname, port: port === '' ? 443 : Number(port) };
}

function difference(before: ActivatorCounts, after: ActivatorCounts): Readonly<Record<string, number>> {
  const entries = Object.entries(after.outcomes).map(([outcome, count]) => [
    outcome,
    count - (before.outcomes[outcome] ?? 0),
  ]);
  return Object.fromEntries(entries) as Record<string, number>;
}

function callsOf({ writesMs, readsMs, failed }: CallsSeen): NeighborCalls {
  return { callsMs: [...writesMs, ...readsMs], failed };
}
