import { setTimeout as pause } from 'node:timers/promises';

import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import type { Progress } from '../../e2e/cluster/machines/supplies.ts';
import { bareRollout, isRolledOut } from '../../e2e/framework/load/bare-rollout.ts';
import { underLoad } from '../../e2e/framework/load/under-load.ts';
import type { Seen } from '../../e2e/framework/load/under-load.ts';
import { TenantStage } from '../../e2e/framework/tenant-stage.ts';
import { joinByHand, machineKubelet } from '../../e2e/framework/workers/tenant-worker.ts';
import { imageArchives } from '../../e2e/tools/images.ts';

/** The versions that each tenant goes through. */
const versions = ['v1.34.4', 'v1.35.4', 'v1.36.3'] as const;

/** So many watch each tenant. */
const watchers = 20;

interface Shape {
  readonly serviceType: 'NodePort' | 'LoadBalancer' | 'ClusterIP';
  readonly replicas: number;
  /** Whether a worker has joined it. */
  readonly hasWorker: boolean;
}

/** Two upgrades each. */
const shapes: readonly Shape[] = [
  { serviceType: 'NodePort', replicas: 2, hasWorker: true },
  { serviceType: 'LoadBalancer', replicas: 2, hasWorker: false },
  { serviceType: 'ClusterIP', replicas: 3, hasWorker: false },
  { serviceType: 'LoadBalancer', replicas: 1, hasWorker: false },
  { serviceType: 'NodePort', replicas: 1, hasWorker: false },
];

/** One upgrade as its users saw it. */
export interface UpgradeRow extends Shape {
  readonly from: string;
  readonly to: string;
  readonly calls: number;
  readonly callsPerSecond: number;
  readonly failed: readonly string[];
  readonly slowestCallMs: number;
  /** Calls that began after the new version had answered, and that the old one answered: over kept connections and over new ones. */
  readonly answeredByOld: number;
  readonly newcomersAnsweredByOld: number;
  readonly watches: number;
  readonly missedEvents: number;
  /** Until only new pods are left in the Deployment, in milliseconds. */
  readonly rolloutMs: number;
  /** The same for a copy of the Deployment that nobody looks after. */
  readonly bareMs: number;
}

/** Upgrades the first so many tenants under load, one after the other. */
export async function measureUpgrades(
  cluster: ManagementCluster,
  { tenants, progress }: { readonly tenants: number; readonly progress: Progress },
): Promise<readonly UpgradeRow[]> {
  const stage = new TenantStage(cluster, 'upgrades');
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: stage.namespace } }]);
  for (const kubernetes of versions) {
    const images = await imageArchives({
      kubernetes,
      progress: (line) => {
        progress('images', line);
      },
    });
    for (const { path } of images) await cluster.machine.importImage(path);
  }
  const rows: UpgradeRow[] = [];
  for (const [index, shape] of shapes.slice(0, tenants).entries()) {
    const measured = await measureTenant(stage, `upgrade-${index}`, shape, progress);
    rows.push(...measured);
  }
  return rows;
}

async function measureTenant(
  stage: TenantStage,
  name: string,
  shape: Shape,
  progress: Progress,
): Promise<readonly UpgradeRow[]> {
  const { cluster } = stage;
  const [first] = versions;
  await cluster.apply([manifest(stage, name, shape, first)]);
  const { controlPlaneEndpoint: endpoint = '' } = await stage.waitFor(name, isReadyAt(first));
  await using cleanUp = new AsyncDisposableStack();
  if (shape.hasWorker) {
    const worker = await joinByHand(stage, { tenant: name, endpoint, worker: `${name}-w`, kubernetes: first });
    cleanUp.defer(() => worker.stop());
  }
  const rows: UpgradeRow[] = [];
  for (const [index, to] of versions.slice(1).entries()) {
    const from = versions[index] ?? first;
    const row = await measureUpgrade(stage, name, { ...shape, from, to });
    progress(`${shape.serviceType}, ${shape.replicas} pods`, `${from} → ${to}: ${row.failed.length} failed calls`);
    rows.push(row);
  }
  await cluster.kubectl(['-n', stage.namespace, 'delete', 'tcp', name, '--timeout=120s'], { timeoutMs: 130_000 });
  return rows;
}

async function measureUpgrade(
  stage: TenantStage,
  name: string,
  step: Shape & Pick<UpgradeRow, 'from' | 'to'>,
): Promise<UpgradeRow> {
  const { cluster } = stage;
  const { from, to } = step;
  const bareMs = await bareRollout(stage, name, (image) => image.replace(from, to));
  const kubeconfig = await stage.kubeconfig(name);
  let rolloutMs = 0;
  let lastedMs = 0;
  const seen = await underLoad(
    { title: `${name}: ${from} → ${to}`, kubeconfig, floor: cluster.client, watchers },
    async () => {
      const began = performance.now();
      await cluster.client.merge(stage.tenant(name), { spec: { kubernetes: { version: to } } });
      const address = stage.at('Deployment', name, 'apps/v1');
      const isNew = (object: PlainObject | undefined): boolean =>
        isRolledOut(object) && JSON.stringify(object?.spec).includes(to);
      await cluster.waitFor(address, isNew, { timeoutMs: 180_000, diagnose: () => stage.diagnose(name) });
      rolloutMs = performance.now() - began;
      await stage.waitFor(name, isReadyAt(to), { timeoutMs: 180_000 });
      while ((await stage.pods(name)).length !== step.replicas) await pause(200);
      lastedMs = performance.now() - began;
    },
  );
  return { ...step, ...summary(seen, lastedMs), rolloutMs, bareMs };
}

function summary(
  { load, servers, watches }: Seen,
  lastedMs: number,
): Omit<UpgradeRow, keyof Shape | 'from' | 'to' | 'rolloutMs' | 'bareMs'> {
  const failed = [...load.failedWrites, ...load.failedReads, ...servers.failed];
  const calls = load.writes + load.reads + servers.calls + load.failedWrites.length;
  return {
    calls,
    // The load begins three seconds before and ends three seconds later.
    callsPerSecond: (calls * 1000) / (lastedMs + 6000),
    failed,
    slowestCallMs: Math.max(load.slowestCallMs, servers.slowestMs),
    answeredByOld: servers.answeredByOld,
    newcomersAnsweredByOld: servers.newcomersAnsweredByOld,
    watches: watches.length,
    missedEvents: watches.reduce((sum, { missed }) => sum + missed.length, 0),
  };
}

function manifest(stage: TenantStage, name: string, { serviceType, replicas }: Shape, version: string): PlainObject {
  const { services, pods } = stage.cluster.network;
  return stage.manifest(name, {
    controlPlane: { deployment: { replicas }, service: { serviceType } },
    kubernetes: { version, kubelet: machineKubelet },
    networkProfile: { serviceCidr: services, podCidr: pods },
    addons: { coreDNS: {}, kubeProxy: {} },
  });
}

const isReadyAt =
  (version: string) =>
  (object: PlainObject | undefined): boolean => {
    const { version: seen } = (object?.status?.kubernetesResources ?? {}) as {
      readonly version?: { readonly version?: string; readonly status?: string };
    };
    return seen?.version === version && seen.status === 'Ready';
  };
