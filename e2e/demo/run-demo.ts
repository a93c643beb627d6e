import path from 'node:path';

import { startManagementCluster } from '../cluster/management-cluster.ts';
import { startBackground } from '../cluster/machines/start-background.ts';
import type { Progress } from '../cluster/machines/supplies.ts';
import { InfrastructureProvider } from '../infrastructure/provider.ts';
import { createWorkload, installProvider } from '../framework/cluster-api/cluster-stage.ts';
import { buildManagerImage } from '../framework/install-steward.ts';
import { webPod } from '../framework/web-pod.ts';
import { Workload } from '../framework/workload.ts';

/** How the demo is run. */
export interface DemoOptions {
  /** Name of its harness. */
  readonly name: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

/** What the demo leaves running. */
export interface DemoResult {
  readonly folder: string;
  readonly kubernetes: string;
  readonly managementKubeconfig: string;
  readonly tenantKubeconfig: string;
  readonly workload: string;
  readonly node: string;
  readonly controlPlanePods: readonly string[];
}

const called = 'demo';
const namespace = 'default';

/**
 * From nothing to a pod on a worker that joined a hosted control plane through a MachineDeployment. Everything stays until
 * the harness is removed, infrastructure provider and load balancer included: they run in the background.
 */
export async function runDemo({ name, progress, signal }: DemoOptions): Promise<DemoResult> {
  progress('management cluster', 'kubeadm on this machine');
  const cluster = await startManagementCluster({
    name,
    serve: false,
    meanwhile: buildManagerImage,
    progress,
    signal,
  });
  // What fails from here on stays for a look.
  await cluster.harness.keep();
  const harnessMain = path.join(import.meta.dirname, '../cluster/main.ts');
  await startBackground(cluster.harness, 'serve', [process.execPath, harnessMain, 'serve', name]);
  const clusterApi = await installProvider(cluster);

  progress('infrastructure', 'a small provider of machines on this host');
  const provider = new InfrastructureProvider(cluster, { signal: cluster.harness.signal, onError: console.error });
  await provider.install();
  const providerMain = path.join(import.meta.dirname, '..', 'infrastructure', 'main.ts');
  await startBackground(cluster.harness, 'infrastructure', [process.execPath, providerMain, name]);

  progress('cluster', `creating ${called} with a StewardControlPlane and one worker`);
  await createWorkload(clusterApi, { name: called });
  const workload = new Workload(cluster, called, namespace);
  await workload.initialized();
  progress('cluster', 'its control plane is initialized');
  const [node = ''] = await workload.readyNodes(1);
  progress('worker', `${node} is Ready`);
  await (await workload.tenant()).apply([webPod('hello')]);
  await workload.waitInside({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'hello' }, 'Ready');
  progress('pod', `hello runs on ${node}`);
  const pods = await cluster.client.list('v1', 'Pod', namespace, `steward.butlerlabs.dev/name=${called}`);
  return {
    folder: cluster.harness.folder,
    kubernetes: cluster.machine.record.kubernetes,
    managementKubeconfig: cluster.kubeconfig,
    tenantKubeconfig: await workload.kubeconfig(),
    workload: called,
    node,
    controlPlanePods: pods.map(({ metadata }) => metadata?.name ?? ''),
  };
}
