import path from 'node:path';

import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { attachManagementCluster, startManagementCluster } from '../cluster/management-cluster.ts';
import { startBackground } from '../cluster/machines/start-background.ts';
import { readHarness } from '../cluster/state.ts';
import type { Progress } from '../cluster/machines/supplies.ts';
import { attachWorker } from '../cluster/worker.ts';
import type { Worker } from '../cluster/worker.ts';
import { installDataStore, installSteward } from '../framework/install-steward.ts';
import { TenantStage } from '../framework/tenant-stage.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { conformanceImageArchives } from '../tools/conformance-images.ts';

const tenantName = 'conformance';
const workerName = 'worker';

/** A tenant with one worker that knows the tests' images. */
export interface ConformanceStage {
  readonly kubernetes: string;
  /** Files of this host. */
  readonly kubeconfig: string;
  readonly kubectl: string;
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
  const worker = await joinedWorker(stage, controlPlaneEndpoint);
  for (const archive of images) await worker.machine.importImage(archive.path);
  progress('images', `${images.flatMap(({ names }) => names).length} names are known to the worker`);
  await addonsAreUp(stage);
  return {
    kubernetes: cluster.machine.record.kubernetes,
    kubeconfig: await stage.kubeconfigFile(tenantName),
    kubectl: path.join(cluster.harness.folder, 'bin', cluster.machine.record.kubernetes, 'kubectl'),
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

async function joinedWorker(stage: TenantStage, endpoint: string): Promise<Worker> {
  const { harness } = stage.cluster;
  const machines = await harness.machines();
  if (machines.some(({ name }) => name === workerName)) return attachWorker(harness, workerName);
  return joinByHand(stage, { tenant: tenantName, endpoint, worker: workerName });
}

async function addonsAreUp(stage: TenantStage): Promise<void> {
  const client = await stage.open(tenantName);
  const namespace = 'kube-system';
  await client.waitFor({ apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'coredns' }, 'Available', {
    timeoutMs: 180_000,
  });
  for (const name of ['kube-proxy', 'konnectivity-agent']) {
    await client.waitFor(
      { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace, name },
      (object) => (object?.status as { numberReady?: number } | undefined)?.numberReady === 1,
      { timeoutMs: 180_000, what: 'one ready pod' },
    );
  }
}
