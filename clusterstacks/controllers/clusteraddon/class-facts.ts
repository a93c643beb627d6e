import { classOf } from '../../../api/cluster-api/class-of.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { capiClusterClass } from '../../../api/cluster-api/kinds.ts';
import { clusterStackRelease } from '../../api/cluster-stack-release.ts';
import { clusterStackLabels } from '../../api/names.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { ClassFacts } from './admission.ts';

/** What the class of a Cluster says, wherever it is; undefined for Clusters that no release concerns. */
export async function classFacts(
  client: Pick<Cluster, 'get'>,
  cluster: CapiCluster,
  signal: AbortSignal,
): Promise<ClassFacts | undefined> {
  const key = classOf(cluster);
  const found = key && (await client.get(capiClusterClass, key, { signal }));
  const labels = found?.metadata.labels;
  const release = labels?.[clusterStackLabels.release];
  if (key === undefined || release === undefined) return undefined;
  const { status } = (await client.get(clusterStackRelease, { ...key, name: release }, { signal })) ?? {};
  const stack = labels?.[clusterStackLabels.stack] ?? '';
  return { className: key.name, stack, release, kubernetesVersion: status?.kubernetesVersion };
}
