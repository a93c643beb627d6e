import { kinds } from '../../../api/core/kinds.ts';
import type { Key, KindRef, Resource } from '../../../api/meta.ts';
import { tlsRoutes } from '../../../api/gateway-api/kinds.ts';
import { labels, tenantObjects } from '../../../api/names.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { hasData } from '../../../api/steward/v1alpha1/data-owner.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { controlPlaneFromKamaji } from './from-kamaji.ts';
import { identityOf } from './identity.ts';
import { kamajiKinds } from './kamaji-kinds.ts';
import type { KamajiControlPlane } from './kamaji-kinds.ts';
import { kamajiNames } from './kamaji-names.ts';
import type { Dependent, KamajiFacts } from './kamaji-facts.ts';
import type { ReadingFacts } from './reading-facts.ts';

/** Kinds of objects that are adopted; of routes the first version that the cluster serves. */
const adoptedKinds: readonly (readonly KindRef[])[] = [
  [kinds.Secret],
  [kinds.ConfigMap],
  [kinds.Service],
  [kinds.Ingress],
  tlsRoutes,
];

/** Nothing where the cluster does not have the kind. */
async function listed<T extends Resource>(
  cluster: Cluster,
  kind: KindRef<T>,
  options: Parameters<Cluster['list']>[1],
): Promise<readonly T[] | undefined> {
  try {
    return (await cluster.list(kind, options)).items;
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return undefined;
    throw error;
  }
}

async function dependentsIn({ cluster, namespace, signal }: ReadingFacts): Promise<readonly Dependent[]> {
  const found = await Promise.all(
    adoptedKinds.map(async (versions) => {
      for (const kind of versions) {
        const items = await listed(cluster, kind, { namespace, metadataOnly: true, signal });
        if (items !== undefined) return items.map((object) => ({ kind, object }));
      }
      return [];
    }),
  );
  return found
    .flat()
    .filter(({ object }) => object.metadata.ownerReferences?.some(({ controller }) => controller === true));
}

/** What admission answers to the TenantControlPlane of Steward, without creating it. */
async function refusalOf(
  old: KamajiControlPlane,
  storeName: string,
  { cluster, signal }: ReadingFacts,
): Promise<string | undefined> {
  try {
    await cluster.create(tenantControlPlane, controlPlaneFromKamaji(old, storeName), { dryRun: true, signal });
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && [400, 403, 404, 422].includes(error.code)) return error.message;
    throw error;
  }
}

/** Reads all that an import from Kamaji decides by. */
export async function readKamaji(
  name: string,
  reading: ReadingFacts,
  chosenStore: string | undefined,
): Promise<KamajiFacts> {
  const { cluster, namespace, signal, now, insideOf } = reading;
  const names = tenantObjects(name);
  const at = (own: string): Key => ({ namespace, name: own });
  const ofKamaji = { namespace, labelSelector: `${kamajiNames.name}=${name}`, signal };
  const [all, ours, service, deployment, ca, serviceAccount] = await Promise.all([
    listed(cluster, kamajiKinds.controlPlane, { signal }),
    cluster.get(tenantControlPlane, at(name), { signal }),
    cluster.get(kinds.Service, at(names.service), { signal }),
    cluster.get(kinds.Deployment, at(names.deployment), { signal }),
    cluster.get(kinds.Secret, at(names.ca), { signal }),
    cluster.get(kinds.Secret, at(names.serviceAccount), { signal }),
  ]);
  const [replicaSets, pods, slices, dependents] = await Promise.all([
    cluster.list(kinds.ReplicaSet, ofKamaji),
    cluster.list(kinds.Pod, ofKamaji),
    cluster.list(kinds.EndpointSlice, { namespace, labelSelector: `kubernetes.io/service-name=${name}`, signal }),
    dependentsIn(reading),
  ]);
  const isThis = ({ metadata }: KamajiControlPlane): boolean =>
    metadata.namespace === namespace && metadata.name === name;
  const old = all?.find(isThis);
  const oldStoreName = old?.status?.storage?.dataStoreName ?? '';
  const storeName = chosenStore ?? oldStoreName;
  const [oldStore, store] = await Promise.all([
    oldStoreName === '' ? undefined : cluster.get(kamajiKinds.dataStore, { name: oldStoreName }, { signal }),
    storeName === '' ? undefined : cluster.get(dataStore, { name: storeName }, { signal }),
  ]);
  const isTried = old !== undefined && ours === undefined && store !== undefined;
  const source = ours !== undefined && hasData(ours) ? ours : old;
  return {
    ...{ namespace, name, now, old, oldStore, ours, storeName, store, dependents, service, deployment },
    others: (all ?? []).filter((one) => !isThis(one)),
    isStoreChosen: chosenStore !== undefined,
    replicaSets: replicaSets.items.filter(({ metadata }) => metadata.labels?.[labels.component] === undefined),
    pods: pods.items,
    slices: slices.items,
    identity: identityOf(source, { ca, serviceAccount }, await insideOf(name)),
    refusal: isTried ? await refusalOf(old, storeName, reading) : undefined,
  };
}
