import { setTimeout as pause } from 'node:timers/promises';

import { labels } from '../../api/names.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import type { ObjectAddress, PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { privateKeyHashes } from '../../testing/builders/private-keys.ts';
import type { KeyHolder } from '../../testing/builders/private-keys.ts';
import { tenantsThatFit } from '../fitting-tenants.ts';
import { idleMachine } from '../footprint/idle.ts';
import { createObjects } from '../ready/contender.ts';
import { firstReadyz } from '../ready/readyz-poll.ts';
import { Observer } from '../ready/observer.ts';
import { measureRounds } from '../ready/ready.ts';
import { StewardContender } from '../ready/steward-contender.ts';
import { StoreClient } from '../ready/store-client.ts';
import { tenant, tenantApiVersion } from '../ready/tenant.ts';
import { tenantCredentials } from '../ready/tenant-credentials.ts';
import { dataStoreName } from '../steward-cluster.ts';
import { compareKeys } from './compare-keys.ts';
import type { ClaimTimes, IdleUsage, InstantRow } from './instant-rows.ts';
import { podProcesses, usageOf } from './pods-usage.ts';

const namespace = 'bench-pool';
const pool: ObjectAddress = { apiVersion: tenantApiVersion, kind: 'ControlPlanePool', namespace, name: 'prepared' };

/** Wanted control planes in reserve. */
const wantedReserve = 4;

/** How often a control plane without a pool is created. */
const floorRounds = 3;

/** How much is measured. */
export interface InstantOptions {
  readonly claims: number;
  readonly idleSeconds: number;
}

/** Measures how long claims of prepared control planes take, what these need, and whether they share keys. */
export async function measureInstant(
  cluster: ManagementCluster,
  options: InstantOptions,
): Promise<readonly InstantRow[]> {
  const { progress } = cluster.harness;
  const version = cluster.machine.record.kubernetes;
  const floorMs = await measureFloor(cluster);
  const reserve = await tenantsThatFit(wantedReserve, progress);
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
  try {
    await createObjects(cluster, [poolOf(reserve, version)]);
    await filled(cluster, reserve);
    const idle = await measureIdle(cluster, reserve, options.idleSeconds);
    const claims: ClaimTimes[] = [];
    const keys: ReadonlySet<string>[] = [];
    for (let number = 1; number <= options.claims; number += 1) {
      const name = `claim-${number}`;
      await filled(cluster, reserve);
      await idleMachine();
      const times = await measureClaim(cluster, name);
      claims.push(times);
      keys.push(await keysOf(cluster, name));
      progress(
        `claim ${number} of ${options.claims}`,
        `kubeconfig ${times.kubeconfigMs.toFixed(0)} ms, /readyz ${times.readyzMs.toFixed(0)} ms`,
      );
      await gone(cluster, claimAt(name));
    }
    return [{ version, reserve, claims, keys: compareKeys(keys), idle, floorMs }];
  } finally {
    await gone(cluster, pool);
  }
}

/** The same control plane without a pool. The first one does not count. */
async function measureFloor(cluster: ManagementCluster): Promise<readonly number[]> {
  cluster.harness.progress('without a pool', `${floorRounds} control planes, one after the other`);
  using observer = await Observer.start(cluster);
  const steward = new StewardContender(cluster, observer, await StoreClient.open(cluster, dataStoreName));
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: steward.namespace } }]);
  await steward.run(1);
  await steward.clear();
  const series = await measureRounds(cluster, [steward], { pairs: floorRounds, replicas: 1 });
  return series.flatMap(({ timelines }) => timelines.flatMap((timeline) => timeline['Service answers /readyz'] ?? []));
}

function poolOf(reserve: number, version: string): PlainObject {
  const { spec } = tenant({ name: pool.name, namespace, replicas: 1, version });
  const { apiVersion, kind, name } = pool;
  return {
    ...{ apiVersion, kind, metadata: { name, namespace } },
    spec: { minReady: reserve, maxReady: reserve, template: { spec } },
  };
}

/** Waits until the pool has everything in reserve. */
async function filled(cluster: ManagementCluster, reserve: number): Promise<void> {
  const isFull = (object: PlainObject | undefined): boolean => object?.status?.ready === reserve;
  await cluster.waitFor(pool, isFull, {
    ...{ timeoutMs: 300_000, what: `${reserve} control planes in reserve` },
    diagnose: () => cluster.diagnose(namespace),
  });
}

async function measureIdle(cluster: ManagementCluster, reserve: number, seconds: number): Promise<IdleUsage> {
  cluster.harness.progress('in reserve', `${seconds} s of rest, and as many of measuring`);
  await pause(seconds * 1000);
  const pids = await podProcesses(cluster, namespace);
  const [before, from] = [await usageOf(pids), performance.now()];
  await pause(seconds * 1000);
  const [after, to] = [await usageOf(pids), performance.now()];
  const measured = (to - from) / 1000;
  return {
    ...{ controlPlanes: reserve, seconds: measured },
    ...{ rssMiB: after.rssMiB / reserve, anonymousMiB: after.anonymousMiB / reserve },
    milliCpu: ((after.cpuSeconds - before.cpuSeconds) / measured / reserve) * 1000,
  };
}

const claimAt = (name: string): ObjectAddress => ({ ...pool, kind: 'ControlPlaneClaim', name });

async function measureClaim(cluster: ManagementCluster, name: string): Promise<ClaimTimes> {
  const { apiVersion } = pool;
  const claim = { apiVersion, kind: 'ControlPlaneClaim', metadata: { name, namespace }, spec: { pool: pool.name } };
  const begin = performance.now();
  await createObjects(cluster, [claim]);
  const kubeconfig = await kubeconfigOf(cluster, name);
  const kubeconfigMs = performance.now() - begin;
  const { hostname, port } = new URL(parseKubeconfig(kubeconfig).server);
  const target = { host: hostname, port: Number(port), credentials: tenantCredentials(kubeconfig), named: true };
  const at = await firstReadyz(target, AbortSignal.timeout(60_000));
  if (at === undefined) throw new Error(`the control plane of ${name} did not answer within 60 s`);
  return { kubeconfigMs, readyzMs: at - begin };
}

/** Reads the Secret of a claim again and again, as often as the API server answers. */
async function kubeconfigOf({ client }: ManagementCluster, name: string): Promise<string> {
  const address = { apiVersion: 'v1', kind: 'Secret', namespace, name: `${name}-kubeconfig` };
  const latest = performance.now() + 60_000;
  while (performance.now() < latest) {
    const { value } = ((await client.read(address)) as KeyHolder | undefined)?.data ?? {};
    if (value !== undefined) return Buffer.from(value, 'base64').toString();
    await pause(5);
  }
  const { status } = (await client.read(claimAt(name))) ?? {};
  throw new Error(`${name} has no kubeconfig after 60 s: ${JSON.stringify(status)}`);
}

/** The private keys of the control plane of a claim, and that of its claimant. The status follows the kubeconfig. */
async function keysOf(cluster: ManagementCluster, claim: string): Promise<ReadonlySet<string>> {
  const bound = await cluster.waitFor(claimAt(claim), 'Bound');
  const name = String(bound?.status?.tenantControlPlane);
  const secrets = await cluster.client.list('v1', 'Secret', namespace);
  const own = secrets.filter(
    ({ metadata }) => metadata?.labels?.[labels.name] === name || metadata?.name === `${claim}-kubeconfig`,
  );
  return privateKeyHashes(own);
}

async function gone(cluster: ManagementCluster, address: ObjectAddress): Promise<void> {
  await cluster.client.delete(address);
  await cluster.waitFor(address, (object) => object === undefined, { timeoutMs: 120_000, what: 'being gone' });
}
