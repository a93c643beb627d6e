import { readdir } from 'node:fs/promises';
import path from 'node:path';

import { ClusterApi } from '../../cluster/cluster-api.ts';
import { attachManagementCluster, startManagementCluster } from '../../cluster/management-cluster.ts';
import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import type { Progress } from '../../cluster/machines/supplies.ts';
import { InfrastructureProvider } from '../../infrastructure/provider.ts';
import type { ProviderOptions } from '../../infrastructure/provider.ts';
import { resolveTools } from '../../tools/resolve.ts';
import { installProvider } from './cluster-stage.ts';
import { buildManagerImage } from '../install-steward.ts';

/** A management cluster with Cluster API, Steward and the infrastructure provider of e2e, which runs in this process. */
export interface ClusterApiStage extends AsyncDisposable {
  readonly cluster: ManagementCluster;
  readonly clusterApi: ClusterApi;
}

/** What a stage has beside the usual. */
export interface StageOptions extends Pick<ProviderOptions, 'images'> {
  /** Whether the manager's image has helm, which cluster stacks need. */
  readonly withHelm?: boolean;
}

/**
 * Starts it all. While a test is being written, `STEWARD_E2E_CAPI_CLUSTER` names one that is up already, such as the demo's
 * (`npm run demo -- --name <name>`), and that stays as it is, its infrastructure provider included.
 */
export async function startClusterApiStage(
  name: string,
  progress: Progress,
  { images = [], withHelm = false }: StageOptions = {},
): Promise<ClusterApiStage> {
  const up = process.env.STEWARD_E2E_CAPI_CLUSTER ?? '';
  if (up !== '') return attachClusterApiStage(up, progress);
  const built = Promise.withResolvers<undefined>();
  const started = Promise.withResolvers<Omit<ClusterApiStage, 'cluster'>>();
  const cluster = await startManagementCluster({
    name,
    progress,
    meanwhile: (harness) =>
      buildManagerImage(harness, withHelm).finally(() => {
        built.resolve(undefined);
      }),
    whileStarting: async (of) => {
      await built.promise;
      started.resolve(await installed(of, progress, images));
    },
  });
  return { cluster, ...(await started.promise) };
}

async function installed(
  cluster: ManagementCluster,
  progress: Progress,
  images: readonly string[],
): Promise<Omit<ClusterApiStage, 'cluster'>> {
  let told = '';
  const provider = new InfrastructureProvider(cluster, {
    images,
    signal: cluster.harness.signal,
    onError: (error) => {
      // It tries again twice a second: the same trouble is told once.
      if (told !== String(error)) progress('infrastructure', String(error));
      told = String(error);
    },
    onStep: (machine, step) => {
      progress(`machine ${machine}`, step);
    },
  });
  const clusterApi = await installProvider(cluster);
  await provider.install();
  const running = provider.run();
  return {
    clusterApi,
    async [Symbol.asyncDispose]() {
      await cluster.stop();
      await running;
    },
  };
}

async function attachClusterApiStage(name: string, progress: Progress): Promise<ClusterApiStage> {
  const cluster = await attachManagementCluster(name, progress);
  const { folder } = cluster.harness;
  const repository = (await readdir(folder)).find((entry) => entry.startsWith('clusterctl-')) ?? '';
  const { clusterctl } = await resolveTools(['clusterctl']);
  const clusterApi = new ClusterApi(cluster, path.join(folder, repository, 'clusterctl.yaml'), clusterctl);
  return { cluster, clusterApi, [Symbol.asyncDispose]: () => Promise.resolve() };
}
