import path from 'node:path';

import type { ClusterApi } from '../../cluster/cluster-api.ts';
import { installClusterApi } from '../../cluster/cluster-api.ts';
import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import { writeProviderRelease } from '../../../release/provider-release.ts';
import { installDataStore, loadManagerImage } from '../install-steward.ts';

const root = path.join(import.meta.dirname, '../../..');
/** `apiVersion` of Cluster API's own kinds. */
export const capiVersion = 'cluster.x-k8s.io/v1beta2';

/** What a workload cluster is asked to be. */
export interface WorkloadOptions {
  readonly name: string;
  readonly namespace?: string;
  readonly controlPlanes?: number;
  readonly workers?: number;
  /** File below `templates/`; the one without a ClusterClass unless said. */
  readonly template?: string;
  /** Kubernetes version; the management cluster's unless said. */
  readonly kubernetes?: string;
  /** clusterctl variables of the template besides the usual ones. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Installs Cluster API and Steward by `clusterctl init --control-plane steward`, then the quick-start DataStore. */
export async function installProvider(cluster: ManagementCluster): Promise<ClusterApi> {
  await loadManagerImage(cluster);
  const release = await writeProviderRelease(path.join(cluster.harness.folder, 'release'));
  const clusterApi = await installClusterApi(cluster, { providers: [release] });
  await installDataStore(cluster);
  return clusterApi;
}

/** Creates a workload cluster from a template by `clusterctl generate`. */
export async function createWorkload(clusterApi: ClusterApi, options: WorkloadOptions): Promise<void> {
  await clusterApi.cluster.apply(await generateWorkload(clusterApi, options));
}

/** The manifests of a workload cluster, as `clusterctl generate` makes them from a template. */
export async function generateWorkload(clusterApi: ClusterApi, options: WorkloadOptions): Promise<string> {
  const { name, namespace = 'default', controlPlanes = 1, workers = 1, variables = {} } = options;
  const { template = 'cluster-template-netns.yaml' } = options;
  const { kubernetes = clusterApi.cluster.machine.record.kubernetes } = options;
  const file = path.join(root, 'templates', template);
  const args = ['generate', 'cluster', name, '--from', file, '--target-namespace', namespace];
  const counts = [
    `--kubernetes-version=${kubernetes}`,
    `--control-plane-machine-count=${controlPlanes}`,
    `--worker-machine-count=${workers}`,
  ];
  const { stdout } = await clusterApi.clusterctl([...args, ...counts], { variables });
  return stdout;
}
