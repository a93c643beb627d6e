import { classOf } from '../../api/cluster-api/class-of.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import { capiClusterClass } from '../../api/cluster-api/kinds.ts';
import { clusterStackRelease } from '../../api/clusterstack/cluster-stack-release.ts';
import { clusterStackLabels } from '../../api/clusterstack/names.ts';
import type { Cluster } from '../../runtime/cluster.ts';
import type { ClassFacts } from './admission.ts';

/** What the class of a Cluster says, wherever it is; undefined for Clusters that no release concerns. */
export async function classFacts(
  door: Pick<Cluster, 'get'>,
  cluster: CapiCluster,
  signal: AbortSignal,
): Promise<ClassFacts | undefined> {
  const key = classOf(cluster);
  const found = key && (await door.get(capiClusterClass, key, { signal }));
  const labels = found?.metadata.labels;
  const release = labels?.[clusterStackLabels.release];
  if (key === undefined || release === undefined) return undefined;
  const { status } = (await door.get(clusterStackRelease, { ...key, name: release }, { signal })) ?? {};
  const stack = labels?.[clusterStackLabels.stack] ?? '';
  return { className: key.name, stack, release, kubernetesVersion: status?.kubernetesVersion };
}
