import { attachClusterApi } from '../../cluster/cluster-api.ts';
import type { ClusterApi } from '../../cluster/cluster-api.ts';
import { attachManagementCluster, startManagementCluster } from '../../cluster/management-cluster.ts';
import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import type { Progress } from '../../cluster/machines/supplies.ts';
import { InfrastructureProvider } from '../../infrastructure/provider.ts';
import type { ProviderOptions } from '../../infrastructure/provider.ts';
import { borrowCluster } from '../shared/borrow-cluster.ts';
import { sharedManagementCluster } from '../shared/shared-management-cluster.ts';
import { sharedName, sharedOwner } from '../shared/shared-names.ts';
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

/**
 * Lends the management cluster with Cluster API and Steward that scenarios share one after the other, see `shareStewardCluster`. The
 * infrastructure provider runs in this process until the scenario gives the cluster back.
 */
export async function shareClusterApiStage(name: string, progress: Progress): Promise<ClusterApiStage> {
  const owner = sharedOwner();
  if (owner === undefined || (process.env.STEWARD_E2E_CAPI_CLUSTER ?? '') !== '')
    return startClusterApiStage(name, progress);
  const install = async (cluster: ManagementCluster): Promise<void> => {
    await installProvider(cluster);
    await providerOf(cluster, progress).install();
  };
  const borrowed = await borrowCluster(
    sharedManagementCluster({ name: sharedName('capi', owner), owner, progress, install }),
  );
  const { cluster } = borrowed;
  const stop = new AbortController();
  const running = providerOf(cluster, progress, { signal: stop.signal }).run();
  return {
    cluster,
    clusterApi: await attachClusterApi(cluster),
    async [Symbol.asyncDispose]() {
      try {
        // Machines of Clusters that are to be cleared are removed by the provider.
        await borrowed[Symbol.asyncDispose]();
      } finally {
        stop.abort();
        await running;
      }
    },
  };
}

async function installed(
  cluster: ManagementCluster,
  progress: Progress,
  images: readonly string[],
): Promise<Omit<ClusterApiStage, 'cluster'>> {
  const provider = providerOf(cluster, progress, { images });
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

function providerOf(
  cluster: ManagementCluster,
  progress: Progress,
  options: Partial<Pick<ProviderOptions, 'images' | 'signal'>> = {},
): InfrastructureProvider {
  let told = '';
  return new InfrastructureProvider(cluster, {
    signal: cluster.harness.signal,
    ...options,
    onError: (error) => {
      // It tries again twice a second: the same trouble is told once.
      if (told !== String(error)) progress('infrastructure', String(error));
      told = String(error);
    },
    onStep: (machine, step) => {
      progress(`machine ${machine}`, step);
    },
  });
}

async function attachClusterApiStage(name: string, progress: Progress): Promise<ClusterApiStage> {
  const cluster = await attachManagementCluster(name, progress);
  return {
    cluster,
    clusterApi: await attachClusterApi(cluster),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
