import { setTimeout as pause } from 'node:timers/promises';

import { attachClusterApi } from '../cluster/cluster-api.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { attachManagementCluster } from '../cluster/management-cluster.ts';
import { lastLines } from '../cluster/machines/run-command.ts';
import { fullSyncs, serviceRules, wantedRules } from '../cluster/network/service-rules.ts';
import type { Progress } from '../cluster/machines/supplies.ts';
import { createWorkload } from '../framework/cluster-api/cluster-stage.ts';
import { TenantStage } from '../framework/tenant-stage.ts';
import { webPod } from '../framework/web-pod.ts';
import { Workload } from '../framework/workload.ts';
import { tenantInterval } from './watch-plan.ts';
import type { WatchPlan } from './watch-plan.ts';

/** How a demo that is kept is watched. */
export interface WatchOptions extends WatchPlan {
  /** Name of its harness. */
  readonly name: string;
  readonly progress: Progress;
}

const namespace = 'watch';
/** Sends requests from inside the management cluster. */
const asker = 'asker';
const lookEveryMs = 60_000;
/** kube-proxy writes at most once a second, and a busy machine is slow. */
const rulesWithinMs = 20_000;
const answersWithinMs = 30_000;

/**
 * Shows that a demo that was kept is still good: makes tenants and deletes them for some hours, and looks every minute whether every
 * Service has its rules in the kernel and answers a pod. At last a whole Cluster is made, and a pod on its worker asks a Service.
 * @throws Error that tells what was lost, and what kube-proxy said.
 */
export async function watchDemo({ name, progress, ...plan }: WatchOptions): Promise<void> {
  const intervalMs = tenantInterval(plan);
  const cluster = await attachManagementCluster(name, progress);
  const clusterApi = await attachClusterApi(cluster);
  const stage = new TenantStage(cluster, namespace);
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { ...webPod(asker), metadata: { name: asker, namespace, labels: { app: asker } } },
  ]);
  await cluster.waitFor(stage.at('Pod', asker), 'Ready');
  const began = Date.now();
  for (let index = 1; index <= plan.tenants; index += 1) {
    const tenant = `tenant-${index}`;
    const seconds = await comeAndGo(stage, tenant);
    progress('watch', `${index} of ${plan.tenants} tenants, this one was Ready after ${seconds.toFixed(1)} s`);
    await lookUntil(cluster, began + index * intervalMs);
  }
  // A watch that failed left its own for a look.
  const last = `last-${Math.round(began / 1000).toString(36)}`;
  await createWorkload(clusterApi, { name: last });
  const workload = new Workload(cluster, last);
  await workload.initialized(300_000);
  const [node = ''] = await workload.readyNodes(1, 300_000);
  await (await workload.tenant()).apply([webPod('hello')]);
  await workload.waitInside({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'hello' }, 'Ready');
  await workload.waitInside(
    { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kube-system', name: 'coredns' },
    'Available',
  );
  await workload.kubectl(['exec', 'hello', '--', ...connect('kubernetes.default.svc:443')]);
  const kept = `${((Date.now() - began) / 3_600_000).toFixed(2)} h and ${plan.tenants} tenants later`;
  progress('watch', `${kept} a pod on ${node} of the new Cluster ${last} reaches kubernetes.default.svc`);
  await cluster.client.delete(workload.address);
  await workload.waitFor(workload.address, (object) => object === undefined, { what: 'its end', timeoutMs: 180_000 });
}

/** Makes a tenant, asks it from a pod by the name of its Service, and deletes it. Returns the seconds until it was Ready. */
async function comeAndGo(stage: TenantStage, tenant: string): Promise<number> {
  const began = performance.now();
  await stage.cluster.apply([stage.manifest(tenant)]);
  await stage.waitFor(tenant, 'Ready', { timeoutMs: 300_000 });
  const seconds = (performance.now() - began) / 1000;
  await ask(stage.cluster, `${tenant}.${namespace}.svc:6443`);
  await stage.cluster.client.delete(stage.tenant(tenant));
  await stage.gone(stage.tenant(tenant), 300_000);
  return seconds;
}

async function lookUntil(cluster: ManagementCluster, end: number): Promise<void> {
  for (;;) {
    await look(cluster);
    const left = end - Date.now();
    if (left <= 0) return;
    await pause(Math.min(left, lookEveryMs), undefined, { signal: cluster.harness.signal });
  }
}

/** @throws Error when a Service lacks rules for longer than kube-proxy needs to write them, or does not answer a pod. */
async function look(cluster: ManagementCluster): Promise<void> {
  const deadline = Date.now() + rulesWithinMs;
  for (;;) {
    const rules = await serviceRules(cluster.machine);
    const missing = wantedRules(await cluster.client.list('v1', 'Service')).filter((rule) => !rules.has(rule));
    if (missing.length === 0) {
      await ask(cluster, 'kubernetes.default.svc:443');
      const syncs = await fullSyncs(cluster.machine);
      cluster.harness.progress('watch', `${rules.size} rules of Services, none is missing, ${syncs} full syncs`);
      return;
    }
    if (Date.now() > deadline) {
      const lost = `kube-proxy has no rules for ${missing.join(', ')}; it has ${rules.size} others.`;
      throw new Error(`${lost}\n${await kubeProxyLog(cluster)}`);
    }
    await pause(1000, undefined, { signal: cluster.harness.signal });
  }
}

/** @throws Error when no connection comes about in time: on a machine that is busy, one that takes long is no fault. */
async function ask(cluster: ManagementCluster, address: string): Promise<void> {
  const deadline = Date.now() + answersWithinMs;
  const command = ['-n', namespace, 'exec', asker, '--', ...connect(address)];
  for (;;) {
    try {
      await cluster.kubectl(command);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await pause(1000, undefined, { signal: cluster.harness.signal });
  }
}

function connect(address: string): readonly string[] {
  return ['/agnhost', 'connect', address, '--timeout=10s'];
}

async function kubeProxyLog(cluster: ManagementCluster): Promise<string> {
  const { stdout } = await cluster.kubectl(['-n', 'kube-system', 'logs', 'daemonset/kube-proxy', '--tail=25']);
  return lastLines(stdout, 25);
}
