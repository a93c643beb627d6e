import { randomBytes } from 'node:crypto';
import { clusterStackGroup } from '../clusterstacks/api/names.ts';
import { kinds } from '../api/core/kinds.ts';
import type { Key } from '../api/meta.ts';
import type { Context, Controller, Watch } from '../runtime/reconcile/controller.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Cluster } from '../runtime/client/cluster.ts';
import type { InformerFactory } from '../runtime/cache/informer-factory.ts';
import type { ObjectMemory } from '../runtime/cache/object-memory.ts';
import type { Metrics } from '../runtime/observe/metrics.ts';
import { markSecrets } from '../controllers/datastore/mark-secrets.ts';
import { dataStoreController } from '../controllers/datastore/controller.ts';
import type { Migrations } from '../controllers/tenantcontrolplane/dependencies.ts';
import { kubeconfigGeneratorController } from '../controllers/kubeconfiggenerator/controller.ts';
import { clusterOfTenant } from '../controllers/stewardcontrolplane/infrastructure/cluster-of-tenant.ts';
import { clusterSecrets, stewardControlPlaneController } from '../controllers/stewardcontrolplane/controller.ts';
import type { ExternalClusters } from '../controllers/stewardcontrolplane/hosting/external-clusters.ts';
import type { ExternalHosting } from '../controllers/stewardcontrolplane/hosting/hosting.ts';
import type { InfrastructureWatches } from '../controllers/stewardcontrolplane/infrastructure/infrastructure-watches.ts';
import type { BlockerWatches } from '../controllers/stewardcontrolplane/infrastructure/blocker-watches.ts';
import { retainedControlPlaneController } from '../controllers/retainedcontrolplane/controller.ts';
import type { TenantShards } from '../controllers/tenantcontrolplane/create-dependencies.ts';
import { removeData } from '../controllers/tenantcontrolplane/deletion.ts';
import { tenantControlPlaneController } from '../controllers/tenantcontrolplane/controller.ts';
import { kubeconfigGenerator } from '../api/steward/v1alpha1/kubeconfig-generator.ts';
import { stewardControlPlane } from '../api/controlplane/steward-control-plane.ts';
import { retainedControlPlane } from '../api/steward/v1alpha1/retained-control-plane.ts';
import type { TenantControlPlane } from '../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlane } from '../api/steward/v1alpha1/tenant-control-plane.ts';
import { etcdDriver } from '../stores/etcd/driver.ts';
import { mysqlDriver } from '../stores/mysql/driver.ts';
import { natsDriver } from '../stores/nats/driver.ts';
import { postgresDriver } from '../stores/postgres/driver.ts';
import type { Driver } from '../stores/driver.ts';
import { secretReader } from '../stores/secret-reader.ts';
import type { Sessions } from '../stores/sessions.ts';
import { StoreAccess } from '../stores/store-access.ts';
import type { TenantPool } from '../tenants/pool.ts';
import type { TenantProber } from '../tenants/prober.ts';
import type { UseMeter } from '../tenants/use/use-meter.ts';
import type { TenantWatches } from '../tenants/tenant-watches.ts';
import { BackupProcesses } from '../stores/backup/process/processes.ts';
import { backupControllers } from './backup/backup-controllers.ts';
import { poolControllers } from './pool/pool-controllers.ts';
import { imageOfPod } from './image-of-pod.ts';
import type { QuotaMeter } from './metrics/quota-meter.ts';
import type { ManagerSettings } from './flags/manager-settings.ts';
import { retainedTenants, tenantsWithData } from './tenants-with-data.ts';

/** The wire protocols of this version. */
export const drivers: readonly Driver[] = [etcdDriver, postgresDriver, mysqlDriver, natsDriver];

/** The common dependencies of the controllers. */
export interface Shared {
  readonly cluster: Cluster;
  readonly informers: Pick<InformerFactory, 'informer'>;
  readonly clock: Clock;
  readonly memory: ObjectMemory;
  readonly sessions: Sessions;
  readonly pool: TenantPool;
  /** Absent when tenants are not watched. */
  readonly watches: TenantWatches | undefined;
  /** Absent when tenants are not probed. */
  readonly prober: TenantProber | undefined;
  /** Whether tenants are used that are to sleep when they are not. */
  readonly useMeter: UseMeter;
  /** What was measured of tenants with a quota. */
  readonly quotas: Pick<QuotaMeter, 'measurementOf'>;
  readonly metrics: Metrics;
  /** The clusters that host control planes besides this one. */
  readonly external: ExternalClusters;
  /** Watches on infrastructure clusters. */
  readonly infrastructure: InfrastructureWatches;
  /** Watches on what is in the way of a control plane. */
  readonly blockers: BlockerWatches;
  /** What managers that share the tenants decide together; absent when only one of them works at a time. */
  readonly tenantShards?: TenantShards | undefined;
  /** Enqueues an object for a controller, as if it had changed. */
  readonly enqueue: (controller: string, key: Key) => void;
}

/** The controllers that the manager is to run, but for the optional layer of cluster stacks. */
export interface CoreControllers {
  readonly controllers: readonly Controller[];
  /**
   * Their watches on kinds of the layer, by controller. These need CustomResourceDefinitions and permissions that may be missing, and no
   * other controller waits for them.
   */
  readonly layerWatches: readonly (readonly [controller: string, watch: Watch])[];
}

/** What is reconciled where TenantControlPlanes are. */
const besideTenants: ReadonlySet<string> = new Set([
  'retainedcontrolplane',
  'controlplanepool',
  'controlplaneclaim',
  'backuppolicy',
  'tenantbackup',
  'tenantrestore',
]);

/** The controllers that are chosen. */
export function coreControllers(settings: ManagerSettings, shared: Shared): CoreControllers {
  const chosen: ReadonlySet<string> = settings.controllers;
  const chooser = (name: string): string => (besideTenants.has(name) ? 'tenantcontrolplane' : name);
  const all = everyController(settings, shared).filter(({ name }) => chosen.has(chooser(name)));
  const isOfLayer = ({ kind }: Watch): boolean => kind.group === clusterStackGroup;
  return {
    controllers: all.map((controller) => ({
      ...controller,
      watches: controller.watches.filter((watch) => !isOfLayer(watch)),
    })),
    layerWatches: all.flatMap(({ name, watches: list }) =>
      list.filter(isOfLayer).map((watch) => [name, watch] as const),
    ),
  };
}

/** All of them; those of the layer of cluster stacks are in cluster-stacks-layer.ts. */
function everyController(settings: ManagerSettings, shared: Shared): readonly Controller[] {
  const {
    cluster,
    informers,
    clock,
    memory,
    sessions,
    pool,
    watches,
    prober,
    useMeter,
    quotas,
    metrics,
    infrastructure,
    blockers,
    external,
    tenantShards,
    enqueue,
  } = shared;
  const stores = new StoreAccess({ drivers, sessions, read: secretReader((key) => cluster.get(kinds.Secret, key)) });
  const { reconcileTimeoutMs: timeoutMs, defaultDataStore, namespace } = settings;
  // The retained records are only complete where they are watched.
  const retained = (): readonly TenantControlPlane[] =>
    settings.controllers.has('tenantcontrolplane')
      ? retainedTenants(informers.informer({ kind: retainedControlPlane, optional: true }).list()).tenants
      : [];
  const allTenants = (): readonly TenantControlPlane[] => informers.informer({ kind: tenantControlPlane }).list();
  return [
    {
      ...tenantControlPlaneController({
        cluster,
        informers,
        clock,
        memory,
        stores,
        pool,
        watches,
        prober,
        useMeter,
        metrics: metrics.apply(),
        defaultDataStore,
        namespace,
        retained,
        kineImage: settings.kineImage,
        monitoring: settings.monitoring,
        measurementOf: (uid) => quotas.measurementOf(uid),
        newestMinor: settings.newestMinor,
        boundaries: settings.boundaries,
        reach: settings.reach,
        mostStarts: settings.mostStarts,
        renewBeforeMs: settings.renewBeforeMs,
        migrations: migrationsOf(settings, cluster),
        shards: tenantShards,
        // Whether or not the gate is on: a process may be left from before.
        endRestores: (tenant, signal) => processesOf(settings, cluster).endRestores(tenant, signal),
        // Without Cluster API's half there is no right to read Clusters.
        ...(settings.controllers.has('stewardcontrolplane') && {
          clusterOf: (tcp: TenantControlPlane, ctx: Pick<Context, 'signal'>) => clusterOfTenant({ cluster }, tcp, ctx),
        }),
        enqueue: (key) => {
          enqueue('tenantcontrolplane', key);
        },
      }),
      concurrency: settings.tenantConcurrency,
      timeoutMs,
    },
    {
      ...dataStoreController({
        clock,
        memory,
        stores,
        defaultDataStore,
        namespace,
        tenants: () => [...informers.informer({ kind: tenantControlPlane }).list(), ...retained()],
        retained,
        allTenants: (signal) => tenantsWithData(cluster, signal),
        isolationIntervalMs: settings.isolationIntervalMs,
        markSecrets: (store, signal) => markSecrets(store, { cluster, signal }),
      }),
      timeoutMs,
    },
    {
      ...retainedControlPlaneController({
        cluster,
        namespace,
        removeData: (former, ctx) => removeData(former, { cluster, stores, defaultDataStore, allTenants }, ctx),
      }),
      timeoutMs,
    },
    {
      ...stewardControlPlaneController({
        cluster,
        watchFilter: settings.watchFilter,
        infrastructure,
        blockers,
        isLabeled: (secret) => informers.informer(clusterSecrets).get(secret) !== undefined,
        ...externalOf(settings, external),
        backups: settings.gates.backups,
        // Without a controller for add-ons, nothing may wait for them.
        ...(settings.gates.clusterStacks &&
          settings.controllers.has('clusteraddon') && {
            addons: { controlPlanes: () => informers.informer({ kind: stewardControlPlane }).list() },
          }),
      }),
      concurrency: settings.controlPlaneConcurrency,
      timeoutMs,
    },
    {
      ...kubeconfigGeneratorController({
        cluster,
        memory,
        tenants: () => informers.informer({ kind: tenantControlPlane }).list(),
        generators: () => informers.informer({ kind: kubeconfigGenerator }).list(),
        renewBeforeMs: settings.renewBeforeMs,
      }),
      timeoutMs,
    },
    ...poolControllers({ cluster, informers, clock, metrics, renewBeforeMs: settings.renewBeforeMs }).map(
      (controller) => ({
        ...controller,
        timeoutMs,
      }),
    ),
    ...(settings.gates.backups ? backupControllers(processesOf(settings, cluster), { cluster, informers }) : []).map(
      (controller) => ({ ...controller, timeoutMs }),
    ),
  ];
}

/** Processes of backups run beside the manager, of its own image unless another is named. */
function processesOf(
  { podNamespace, backupClaims: claims, backupBuckets: buckets, ...settings }: ManagerSettings,
  cluster: Cluster,
): BackupProcesses {
  const image = (signal: AbortSignal): Promise<string> => processImage({ podNamespace, ...settings }, cluster, signal);
  return new BackupProcesses({ cluster, namespace: podNamespace, image, claims, buckets });
}

/** The image of processes that run beside the manager: its own unless another is named. */
function processImage(
  {
    podNamespace: namespace,
    podName: name,
    migrateImage,
  }: Pick<ManagerSettings, 'podNamespace' | 'podName' | 'migrateImage'>,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<string> {
  return migrateImage === '' ? imageOfPod(cluster, { namespace, name }, signal) : Promise.resolve(migrateImage);
}

/** Nothing when the feature gate is off. */
function externalOf({ gates }: ManagerSettings, clusters: ExternalClusters): { readonly external?: ExternalHosting } {
  if (!gates.externalClusterReference) return {};
  const crossNamespace = gates.externalClusterReferenceCrossNamespace;
  return { external: { crossNamespace, clusters, newProof: () => randomBytes(32).toString('base64url') } };
}

/** Migrations run in Jobs beside the manager. */
function migrationsOf(settings: ManagerSettings, cluster: Cluster): Migrations {
  const { podNamespace: namespace, serviceAccount, minimumHoldMs } = settings;
  return {
    namespace,
    serviceAccount: serviceAccount === '' ? 'default' : serviceAccount,
    minimumHoldMs,
    image: (signal) => processImage(settings, cluster, signal),
  };
}
