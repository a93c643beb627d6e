import path from 'node:path';

import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { attachManagementCluster, startManagementCluster } from '../cluster/management-cluster.ts';
import { addRoute } from '../cluster/network/links.ts';
import { podRoutes } from '../cluster/network/pod-network.ts';
import { startBackground } from '../cluster/machines/start-background.ts';
import { readHarness } from '../cluster/state.ts';
import type { Progress } from '../cluster/machines/supplies.ts';
import { attachWorker } from '../cluster/worker.ts';
import type { Worker } from '../cluster/worker.ts';
import { installDataStore, installSteward } from '../framework/install-steward.ts';
import { TenantStage } from '../framework/tenant-stage.ts';
import { addonsRun } from '../framework/workers/addons-run.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { conformanceImageArchives } from './images/conformance-images.ts';

const tenantName = 'conformance';
const workerNames = ['worker-1', 'worker-2'] as const;

/** A tenant with two workers that have the tests' images. */
export interface ConformanceStage {
  readonly kubernetes: string;
  /** Files of this host. */
  readonly kubeconfig: string;
  readonly kubectl: string;
  readonly workers: readonly Worker[];
}

/** Finds the cluster of this name or builds it; it stays until the harness is removed. */
export async function conformanceStage(name: string, progress: Progress): Promise<ConformanceStage> {
  const images = await conformanceImageArchives((line) => {
    progress('images', line);
  });
  const cluster = await standingCluster(name, progress);
  const stage = new TenantStage(cluster, 'default');
  await cluster.apply([
    stage.manifest(tenantName, {
      controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } },
      kubernetes: { version: cluster.machine.record.kubernetes, kubelet: machineKubelet },
      addons: { coreDNS: {}, kubeProxy: {}, konnectivity: { server: { port: 8132 } } },
    }),
  ]);
  const { controlPlaneEndpoint = '' } = await stage.waitFor(tenantName, 'Ready', { timeoutMs: 300_000 });
  progress('tenant', `is Ready at ${controlPlaneEndpoint}`);
  const workers: Worker[] = [];
  for (const name of workerNames) {
    const worker = await joinedWorker(stage, { endpoint: controlPlaneEndpoint, name });
    for (const archive of images) await worker.machine.importImage(archive.path);
    progress('worker', `${name} has images of ${images.flatMap(({ names }) => names).length} names`);
    workers.push(worker);
  }
  await connectPods(stage, workers);
  await addonsRun(await stage.open(tenantName), { workers: workers.length });
  return {
    kubernetes: cluster.machine.record.kubernetes,
    kubeconfig: await stage.kubeconfigFile(tenantName),
    kubectl: path.join(cluster.harness.folder, 'bin', cluster.machine.record.kubernetes, 'kubectl'),
    workers,
  };
}

async function standingCluster(name: string, progress: Progress): Promise<ManagementCluster> {
  const found = (await readHarness(name)) !== undefined;
  const cluster = found
    ? await attachManagementCluster(name, progress)
    : await startManagementCluster({ name, serve: false, progress });
  if (!found) {
    await cluster.harness.keep();
    const harnessMain = path.join(import.meta.dirname, '../cluster/main.ts');
    await startBackground(cluster.harness, 'serve', [process.execPath, harnessMain, 'serve', name]);
  }
  const manager = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'steward-system' };
  const installed = await cluster.client.read({ ...manager, name: 'steward-controller-manager' });
  if (installed === undefined) {
    await installSteward(cluster);
    await installDataStore(cluster);
  }
  return cluster;
}

async function joinedWorker(
  stage: TenantStage,
  { endpoint, name }: { readonly endpoint: string; readonly name: string },
): Promise<Worker> {
  const { harness } = stage.cluster;
  const machines = await harness.machines();
  if (machines.some((machine) => machine.name === name)) return attachWorker(harness, name);
  return joinByHand(stage, { tenant: tenantName, endpoint, worker: name });
}

/** Lets the pods of each worker reach those of the others. */
async function connectPods(stage: TenantStage, workers: readonly Worker[]): Promise<void> {
  const client = await stage.open(tenantName);
  const nodes = await Promise.all(
    workers.map(async ({ name }) => {
      const node = await client.read({ apiVersion: 'v1', kind: 'Node', name });
      return { name, podCidr: String(node?.spec?.podCIDR) };
    }),
  );
  for (const { machine, range, via } of podRoutes(nodes, workers)) {
    await addRoute(range, via, workers.find(({ name }) => name === machine)?.machine.init);
  }
}
