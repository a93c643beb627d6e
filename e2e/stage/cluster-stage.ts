import path from 'node:path';

import type { ClusterApi } from '../harness/cluster-api.ts';
import { installClusterApi } from '../harness/cluster-api.ts';
import type { ManagementCluster } from '../harness/management-cluster.ts';
import { writeProviderRelease } from '../release/provider-release.ts';
import { installDataStore, loadManagerImage } from './install-steward.ts';

const root = path.join(import.meta.dirname, '..', '..');
/** `apiVersion` of Cluster API's own kinds. */
export const capiVersion = 'cluster.x-k8s.io/v1beta2';

/** What a workload cluster is asked to be. */
export interface WorkloadOptions {
  readonly name: string;
  readonly namespace?: string;
  readonly controlPlanes?: number;
  readonly workers?: number;
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

/** Creates a workload cluster from `templates/cluster-template-netns.yaml` by `clusterctl generate`. */
export async function createWorkload(clusterApi: ClusterApi, options: WorkloadOptions): Promise<void> {
  const { name, namespace = 'default', controlPlanes = 1, workers = 1, variables = {} } = options;
  const kubernetes = clusterApi.cluster.machine.record.kubernetes;
  const template = path.join(root, 'templates', 'cluster-template-netns.yaml');
  const args = ['generate', 'cluster', name, '--from', template, '--target-namespace', namespace];
  const counts = [
    `--kubernetes-version=${kubernetes}`,
    `--control-plane-machine-count=${controlPlanes}`,
    `--worker-machine-count=${workers}`,
  ];
  const { stdout } = await clusterApi.clusterctl([...args, ...counts], { variables });
  await clusterApi.cluster.apply(stdout);
}
