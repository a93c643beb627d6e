import { setTimeout as pause } from 'node:timers/promises';

import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { KubernetesClient } from '../../e2e/cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import type { Progress } from '../../e2e/cluster/machines/supplies.ts';
import { openHowTo } from '../../e2e/framework/how-to-page.ts';
import { TenantLoad } from '../../e2e/framework/load/tenant-load.ts';
import { TenantStage } from '../../e2e/framework/tenant-stage.ts';
import { storeImageArchive } from '../../e2e/tools/store-images.ts';
import { dataStoreName } from '../steward-cluster.ts';

/** So many tenants are in the DataStore. */
const tenants = 5;

/** Of each tenant. */
const writesPerSecond = 5;

/** What one tenant saw of the drain of its DataStore. */
export interface DrainRow {
  readonly tenant: string;
  readonly target: string;
  readonly keys: number;
  readonly writes: number;
  /** Writes that were denied with the request to repeat them, and those that failed otherwise. */
  readonly denied: number;
  readonly failedWrites: readonly string[];
  readonly failedReads: readonly string[];
  /** Writes that were acknowledged and are gone. */
  readonly lost: number;
  /** How long writes were denied, and the part of it in which pods were replaced, in milliseconds. */
  readonly pauseMs: number;
  readonly rolloutMs: number;
  /** From the request of the drain until its migration had ended, in milliseconds. */
  readonly endedMs: number;
}

interface Migration {
  readonly phase?: string;
  readonly keys?: number;
  readonly pauseMs?: number;
  readonly rolloutMs?: number;
  readonly finishedAt?: string;
  readonly target?: { readonly dataStoreName?: string };
}

/** Drains the quick-start etcd with five tenants that write into PostgreSQL. */
export async function measureDrain(cluster: ManagementCluster, progress: Progress): Promise<readonly DrainRow[]> {
  const stage = new TenantStage(cluster, 'tenants');
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: stage.namespace } }]);
  const archive = await storeImageArchive('postgres', {
    progress: (line) => {
      progress('postgres', line);
    },
  });
  await cluster.loadImage(archive.path);
  await (await openHowTo(cluster, 'datastore-postgres')).run('Quick start');
  const names = Array.from({ length: tenants }, (_, at) => `drained-${at}`);
  await cluster.apply(names.map((name) => manifest(stage, name)));
  const loads = new Map<string, TenantLoad>();
  for (const name of names) {
    await stage.waitFor(name, 'Ready');
    loads.set(name, await startLoad(stage, name));
    progress('tenant', `${name} is used`);
  }
  await pause(5000);
  const began = Date.now();
  await cluster.kubectl(['patch', 'datastore', dataStoreName, '--type=merge', '-p', '{"spec":{"drain":{}}}']);
  const wait = ['wait', `datastore/${dataStoreName}`, '--for=condition=Drained', '--timeout=1200s'];
  await cluster.kubectl(wait, { timeoutMs: 1_210_000 });
  progress('drained', `after ${((Date.now() - began) / 1000).toFixed(1)} s`);
  for (const name of names) await stage.waitFor(name, 'Ready');
  await pause(3000);
  const rows: DrainRow[] = [];
  for (const [tenant, load] of loads) rows.push(await rowOf(stage, tenant, load, began));
  return rows;
}

async function startLoad(stage: TenantStage, name: string): Promise<TenantLoad> {
  const client = await stage.open(name);
  await client.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'load' } }]);
  const kubeconfig = await stage.kubeconfig(name);
  const load = new TenantLoad(client, {
    namespace: 'load',
    writesPerSecond,
    readsPerSecond: writesPerSecond,
    registers: 4,
    newcomersPerSecond: 1,
    newcomer: () => new KubernetesClient(kubeconfig),
    floor: stage.cluster.client,
  });
  await load.start();
  return load;
}

async function rowOf(stage: TenantStage, tenant: string, load: TenantLoad, began: number): Promise<DrainRow> {
  const report = await load.stop();
  const lost = await load.lost();
  const found = await stage.cluster.client.read(stage.tenant(tenant));
  const { migration } = (found?.status?.storage ?? {}) as { readonly migration?: Migration };
  const { target, keys = 0, pauseMs = 0, rolloutMs = 0, finishedAt } = migration ?? {};
  return {
    ...{ tenant, target: target?.dataStoreName ?? '', keys },
    ...{ writes: report.writes, denied: report.denied },
    ...{ failedWrites: report.failedWrites, failedReads: report.failedReads, lost: lost.length },
    ...{ pauseMs, rolloutMs, endedMs: finishedAt === undefined ? 0 : Date.parse(finishedAt) - began },
  };
}

function manifest(stage: TenantStage, name: string): PlainObject {
  return stage.manifest(name, {
    controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'ClusterIP' } },
    kubernetes: { version: 'v1.36.3' },
    addons: { coreDNS: {}, kubeProxy: {} },
  });
}
