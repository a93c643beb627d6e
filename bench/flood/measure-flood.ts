import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { conditionOf, TenantStage } from '../../e2e/framework/tenant-stage.ts';
import type { BenchRun } from '../figure.ts';
import { EtcdPeak } from './etcd-peak.ts';
import { etcdState } from './etcd-state.ts';
import { attacks } from './flood-rows.ts';
import type { Attack, FloodRow, FloodStore, HostileCounts } from './flood-rows.ts';
import { openFloodedStore } from './flooded-store.ts';
import { floodNamespace } from './flood-writes.ts';
import type { AttackOutcome } from './hostile-client.ts';
import { NeighborLoad } from './neighbor-load.ts';
import { quotaRoom } from './quota-room.ts';
import { runAttack } from './run-attack.ts';

const hostile = 'hostile';
const neighbor = 'neighbor';

/** How long the neighbor is measured alone, and during each attack. */
const aloneMs = 30_000;
const attackMs = 45_000;

/** NATS has 256 MiB for each tenant, in which history counts as well. */
const quota = { dataSize: '32Mi', objects: 2000 };

/** How long the condition WithinQuota may take to be True again, and the pause between attacks. */
const recoveredWithinMs = 90_000;
const pauseMs = 5000;

/** Of why a datastore could not be measured, the characters that are recorded; all of it is printed. */
const mostOfMessage = 300;

/** A time in which something was done. */
interface Period {
  readonly attack: FloodRow['attack'];
  readonly from: number;
  readonly to: number;
  /** Until the next one. */
  readonly until: number;
  readonly found: Pick<FloodRow, 'hostile' | 'alarms' | 'fileMiB' | 'mostFiles' | 'mostMemoryMiB' | 'load'>;
}

/**
 * Lets one tenant of each datastore do its worst beside another, one datastore after the other. One that cannot be measured has one row
 * that says why.
 */
export async function measureFlood(cluster: ManagementCluster, run: BenchRun): Promise<readonly FloodRow[]> {
  const rows: FloodRow[] = [];
  for (const store of run.options.stores) {
    try {
      rows.push(...(await measureStore(cluster, store, run)));
    } catch (error) {
      const { message } = error as Error;
      run.progress(store, message);
      const nothing = { seconds: 0, writesMs: [], readsMs: [], load: loadNow() };
      rows.push({ store, attack: 'alone', ...nothing, failed: [message.slice(0, mostOfMessage)] });
    }
  }
  return rows;
}

async function measureStore(
  cluster: ManagementCluster,
  store: FloodStore,
  { progress }: BenchRun,
): Promise<readonly FloodRow[]> {
  const stage = new TenantStage(cluster, `flood-${store}`);
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: stage.namespace } }]);
  await using installed = await openFloodedStore(cluster, store, progress);
  const { dataStore } = installed;
  await using tenants = tenantsOf(stage);
  await cluster.apply([stage.manifest(hostile, { dataStore, quota }), stage.manifest(neighbor, { dataStore })]);
  await Promise.all(tenants.names.map((name) => stage.waitFor(name, 'Ready', { timeoutMs: 300_000 })));
  progress(store, 'two tenants are Ready');
  const client = await stage.open(hostile);
  await client.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: floodNamespace } }]);
  const load = new NeighborLoad(await stage.open(neighbor));
  const periods: Period[] = [];
  {
    await using loaded = load;
    await loaded.start();
    await pause(pauseMs);
    const from = Date.now();
    await pause(aloneMs);
    const to = Date.now();
    periods.push({
      attack: 'alone',
      from,
      to,
      until: to,
      found: { load: loadNow(), ...(await stateOf(stage, store)) },
    });
    for (const attack of attacks) {
      const period = await measureAttack(stage, attack, store);
      periods.push(period);
      progress(`${store}, ${attack}`, describe(period));
    }
  }
  return periods.map(({ attack, from, to, until, found }) => ({
    ...{ store, attack, seconds: Math.round((to - from) / 100) / 10 },
    ...load.between(from, to, until),
    ...found,
  }));
}

/** Disposing of them deletes them, without which their datastore could not be removed. */
function tenantsOf(stage: TenantStage): AsyncDisposable & { readonly names: readonly string[] } {
  const names = [hostile, neighbor];
  return {
    names,
    [Symbol.asyncDispose]: async () => {
      for (const name of names) {
        await stage.cluster.client.delete(stage.tenant(name));
        await stage.gone(stage.tenant(name), 300_000);
      }
    },
  };
}

async function measureAttack(stage: TenantStage, attack: Attack, store: FloodStore): Promise<Period> {
  const before = await stage.cluster.waitFor(
    stage.tenant(hostile),
    ({ status } = {}) => quotaRoom(status) !== undefined,
  );
  const room = quotaRoom(before?.status);
  if (room === undefined) throw new Error('The quota of the hostile tenant was not measured.');
  const kubeconfig = await stage.kubeconfig(hostile);
  await using peak = store === 'etcd' ? new EtcdPeak(stage.cluster) : undefined;
  const from = Date.now();
  const outcome = await runAttack({ attack, kubeconfig, ms: attackMs, room });
  const isWithinQuota = await comesBack(stage);
  await pause(pauseMs);
  const object = await stage.cluster.client.read(stage.tenant(hostile));
  const isReady = conditionOf(object, 'Ready')?.status === 'True';
  const counts = hostileCounts(outcome, { isWithinQuota, isReady });
  const found = { hostile: counts, ...(await stateOf(stage, store)), ...(await peak?.end()), load: loadNow() };
  return { attack, from, to: outcome.endedAt, until: Date.now(), found };
}

/** Whether the condition says that the tenant is within its quota, and not near it, in time. */
async function comesBack(stage: TenantStage): Promise<boolean> {
  const options = { timeoutMs: recoveredWithinMs, diagnose: () => Promise.resolve('') };
  return stage
    .waitFor(hostile, (object) => conditionOf(object, 'WithinQuota')?.reason === 'WithinQuota', options)
    .then(
      () => true,
      () => false,
    );
}

function hostileCounts(
  { accepted, denied = 0, failures, cpuPercent, quota: counted }: AttackOutcome,
  { isWithinQuota, isReady }: { readonly isWithinQuota: boolean; readonly isReady: boolean },
): HostileCounts {
  const [failure] = failures;
  return {
    ...{ accepted, denied, failures: failures.length },
    ...(failure !== undefined && { failure }),
    cpuPercent: Math.round(cpuPercent),
    ...(counted !== undefined && { quota: { ...counted, isWithinQuota } }),
    isReady,
  };
}

/** Nothing for other datastores. */
async function stateOf({ cluster }: TenantStage, store: FloodStore): Promise<Pick<FloodRow, 'alarms' | 'fileMiB'>> {
  return store === 'etcd' ? etcdState(cluster) : {};
}

const loadNow = (): number => loadavg()[0] ?? 0;

function describe({ from, to, found: { hostile: counts } }: Period): string {
  const { accepted = 0, denied = 0, failures = 0, failure = '', cpuPercent = 0, quota: limited } = counts ?? {};
  const all = `${accepted} accepted, ${denied} denied, ${failures} failed in ${((to - from) / 1000).toFixed(0)} s, ${cpuPercent} % CPU`;
  return [all, failure, limited === undefined ? '' : JSON.stringify(limited)].filter((part) => part !== '').join('; ');
}
