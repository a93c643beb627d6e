import { capiCluster } from '../../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Pod } from '../../../api/core/kinds.ts';
import type { Key, KindRef, Resource } from '../../../api/meta.ts';
import { labels, migrationJob, tenantObjects } from '../../../api/names.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { eventKind } from '../../../runtime/observe/event-recorder.ts';
import type { ObjectReader, ObjectSelection } from './object-reader.ts';
import type { EventObject, Situation } from './situation.ts';

/** Which control plane is explained, and where its managers run. */
export interface SituationOptions {
  readonly namespace: string;
  readonly name: string;
  readonly now: Date;
  /** The namespace of the managers; `steward-system` by default. */
  readonly managerNamespace?: string;
  /** DataStore of control planes that name none; the manager's flag. */
  readonly defaultDataStore?: string;
}

/** Name of the Lease of the managers. */
const leaseName = 'steward.butlerlabs.dev';

/** At most so many logs are read: those of all replicas say the same. */
const mostLogs = 4;

/** The containers whose logs may say why they do not run. */
function silentContainers(pods: readonly Pod[]): readonly { readonly pod: string; readonly container: string }[] {
  return pods.flatMap(({ metadata, status }) =>
    [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
      .filter(({ ready, restartCount, state }) => !ready && (restartCount > 0 || state?.terminated !== undefined))
      .map(({ name }) => ({ pod: metadata.name, container: name })),
  );
}

/** A reader that remembers what it could not read, and goes on. */
class TolerantReader {
  /** What could not be read, and why. */
  readonly unread: string[] = [];
  readonly #reader: ObjectReader;

  constructor(reader: ObjectReader) {
    this.#reader = reader;
  }

  async orElse<T, U>(what: string, work: Promise<T>, otherwise: U): Promise<T | U> {
    try {
      return await work;
    } catch (error) {
      this.unread.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      return otherwise;
    }
  }

  read<T extends Resource>(kind: KindRef<T>, key: Key): Promise<T | undefined> {
    return this.orElse<T | undefined, undefined>(kind.kind, this.#reader.read(kind, key), undefined);
  }

  async list<T extends Resource>(kind: KindRef<T>, selection: ObjectSelection): Promise<readonly T[]> {
    const none: readonly T[] = [];
    return (await this.orElse(kind.plural, this.#reader.list(kind, selection), none)) ?? none;
  }

  async log(namespace: string, pod: string, container: string): Promise<string> {
    return this.orElse(`log of ${pod}`, this.#reader.log({ namespace, name: pod }, container), '');
  }
}

/** The Job that migrates the data of a tenant, with its pods. */
async function readMigration(
  tolerant: TolerantReader,
  tcp: TenantControlPlane | undefined,
  namespace: string,
): Promise<Pick<Situation, 'migrationJob' | 'migrationPods'>> {
  if (tcp?.status?.storage?.migration === undefined) return { migrationPods: [] };
  const name = migrationJob(tcp.metadata.uid);
  const [job, pods] = await Promise.all([
    tolerant.read(kinds.Job, { namespace, name }),
    tolerant.list(kinds.Pod, { namespace, labelSelector: `job-name=${name}` }),
  ]);
  return { migrationJob: job, migrationPods: pods };
}

/** The DataStore that a control plane uses, or is to use. */
function storeOf(tcp: TenantControlPlane | undefined, defaultDataStore: string): string {
  const store = tcp?.status?.storage?.dataStoreName ?? tcp?.spec.dataStore ?? '';
  return store === '' ? defaultDataStore : store;
}

/** Reads everything that an explanation is made of. What may not be read is named in `unread`. */
export async function readSituation(reader: ObjectReader, options: SituationOptions): Promise<Situation> {
  const { namespace, name, now, managerNamespace = 'steward-system', defaultDataStore = '' } = options;
  const tolerant = new TolerantReader(reader);
  const own = { namespace, name };
  // Without the object itself there is nothing to explain: what is refused here is the answer.
  const tcp = await reader.read(tenantControlPlane, own);
  const scp = await tolerant.read(stewardControlPlane, own);
  const names = tenantObjects(name);
  const labelSelector = `${labels.name}=${name}`;
  const storeName = storeOf(tcp, defaultDataStore);
  const clusterName = scp?.metadata.labels?.[clusterNameLabel] ?? name;
  const lease = reader.read(kinds.Lease, { namespace: managerNamespace, name: leaseName });
  const [deployment, service, replicaSets, pods, events, leaseFound, store, cluster, migration] = await Promise.all([
    tolerant.read(kinds.Deployment, { namespace, name: names.deployment }),
    tolerant.read(kinds.Service, { namespace, name: names.service }),
    tolerant.list(kinds.ReplicaSet, { namespace, labelSelector }),
    tolerant.list(kinds.Pod, { namespace, labelSelector }),
    tolerant.list(eventKind as KindRef<EventObject>, { namespace }),
    tolerant.orElse('Lease', lease, 'unread' as const),
    storeName === '' ? undefined : tolerant.read(dataStore, { name: storeName }),
    scp === undefined ? undefined : tolerant.read(capiCluster, { namespace, name: clusterName }),
    readMigration(tolerant, tcp, managerNamespace),
  ]);
  const about = new Set([
    name,
    ...Object.values<string>({ ...names }),
    ...[...replicaSets, ...pods].map(({ metadata }) => metadata.name),
  ]);
  const silent = silentContainers(pods).slice(0, mostLogs);
  const logs = await Promise.all(
    silent.map(async ({ pod, container }) => {
      return [`${pod}/${container}`, await tolerant.log(namespace, pod, container)] as const;
    }),
  );
  return {
    now,
    namespace,
    name,
    tenantControlPlane: tcp,
    stewardControlPlane: scp,
    cluster,
    dataStore: store,
    deployment,
    service,
    replicaSets,
    pods,
    events: events.filter(({ regarding }) => about.has(regarding?.name ?? '')),
    ...migration,
    logs: Object.fromEntries(logs),
    lease: leaseFound,
    managerNamespace,
    unread: tolerant.unread,
  };
}
