import type { StatefulSet } from '../../api/core/kinds.ts';
import { labels } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { validateImage } from '../../stores/etcd/upgrade/validate-image.ts';

/** Why the image of a StatefulSet that runs the servers of a DataStore may not be changed in this way. */
export async function validateServersImage(
  { set, old }: { readonly set: StatefulSet; readonly old: StatefulSet },
  cluster: Pick<Cluster, 'get'>,
  signal: AbortSignal,
): Promise<readonly InvalidInput[]> {
  const name = [set, old]
    .map(({ metadata }) => metadata.labels?.[labels.dataStoreServers])
    .find((one) => one !== undefined);
  if (name === undefined) return [];
  const { index, image } = etcdOf(set);
  const { image: oldImage } = etcdOf(old);
  if (image === undefined || oldImage === undefined || image === oldImage) return [];
  const store = await cluster.get(dataStore, { name }, { signal });
  if (store !== undefined && store.spec.driver !== 'etcd') return [];
  return validateImage({
    field: `spec.template.spec.containers[${index}].image`,
    ...{ image, oldImage },
    storageVersion: store?.status?.etcd?.storageVersion,
    members: { wanted: old.spec?.replicas ?? 1, settled: settledOf(old) },
  });
}

function etcdOf({ spec }: StatefulSet): { readonly index: number; readonly image: string | undefined } {
  const containers = spec?.template.spec?.containers ?? [];
  const index = containers.findIndex(({ name }) => name === 'etcd');
  return { index, image: containers[index]?.image };
}

/** Pods that are ready and of the newest revision. */
function settledOf({ metadata, spec, status }: StatefulSet): number {
  if (status === undefined || (status.observedGeneration ?? 0) < (metadata.generation ?? 0)) return 0;
  const isUpdated = status.updateRevision === status.currentRevision;
  const updated = isUpdated ? (spec?.replicas ?? 1) : (status.updatedReplicas ?? 0);
  return Math.min(status.readyReplicas ?? 0, updated);
}
