import { randomUUID } from 'node:crypto';
import { kinds } from '../api/core/kinds.ts';
import type { Draft, Key } from '../api/meta.ts';
import { controlPlaneClaim } from '../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { backupPolicy } from '../api/steward/v1alpha1/backup/backup-policy.ts';
import { dataStore } from '../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../api/steward/v1alpha1/tenant-control-plane.ts';
import { sleep, systemClock } from '../runtime/clock.ts';
import { IdleCollector } from '../runtime/heap/idle-collector.ts';
import { ownHeap } from '../runtime/heap/own-heap.ts';
import type { Cluster } from '../runtime/client/cluster.ts';
import { ExternalClusters } from '../controllers/stewardcontrolplane/hosting/external-clusters.ts';
import { detached } from '../runtime/detached.ts';
import { ownedSecrets } from '../controllers/tenantcontrolplane/watches.ts';
import { selectionInTenant } from '../controllers/tenantcontrolplane/shared/selection-in-tenant.ts';
import { pastSpan } from '../runtime/observe/in-span.ts';
import { startTracing } from './start-tracing.ts';
import { EventRecorder } from '../runtime/observe/event-recorder.ts';
import { contactCheck, healthPages, HttpEndpoints } from '../runtime/observe/http-endpoints.ts';
import type { Pages } from '../runtime/observe/http-endpoints.ts';
import { openHttp2Line } from '../runtime/client/http2/http2-line.ts';
import { Http2Sessions } from '../runtime/client/http2/http2-sessions.ts';
import { openCluster } from '../runtime/client/http-cluster.ts';
import type { ClusterOptions, RequestMeasure } from '../runtime/client/http-cluster.ts';
import type { Controller } from '../runtime/reconcile/controller.ts';
import { InformerFactory } from '../runtime/cache/informer-factory.ts';
import { LeaderElection } from '../runtime/leader/leader-election.ts';
import { inClusterConnection, loadKubeconfigFile } from '../runtime/client/load-connection.ts';
import type { Logger } from '../runtime/observe/logger.ts';
import { Manager } from '../runtime/reconcile/manager.ts';
import { Metrics } from '../runtime/observe/metrics.ts';
import { ObjectMemory } from '../runtime/cache/object-memory.ts';
import { createWinstonLogger } from '../runtime/observe/winston-logger.ts';
import { secretReader } from '../stores/secret-reader.ts';
import { StoreAccess } from '../stores/store-access.ts';
import { TenancyMeter } from '../stores/tenancy-meter.ts';
import type { TenancyMeterOptions } from '../stores/tenancy-meter.ts';
import { InfrastructureWatches } from '../controllers/stewardcontrolplane/infrastructure/infrastructure-watches.ts';
import { BlockerWatches } from '../controllers/stewardcontrolplane/infrastructure/blocker-watches.ts';
import { TenantPool } from '../tenants/pool.ts';
import { probe } from '../tenants/probe.ts';
import type { ProbeResult } from '../tenants/probe.ts';
import { TenantProber } from '../tenants/prober.ts';
import type { ProbePath } from '../tenants/prober.ts';
import { UseMeter } from '../tenants/use/use-meter.ts';
import { TenantWatches } from '../tenants/tenant-watches.ts';
import { endOfLeadership } from './leadership/end-of-leadership.ts';
import { guardedAccess } from './leadership/guarded-access.ts';
import type { GuardedAccess } from './leadership/guarded-access.ts';
import { bindText } from './flags/bind-text.ts';
import { Closing } from './closing.ts';
import { clusterStacksLayer } from '../clusterstacks/cmd/cluster-stacks-layer.ts';
import { coreControllers, drivers } from './controllers.ts';
import type { LastResort } from './last-resort.ts';
import type { ListenAddress, ManagerSettings } from './flags/manager-settings.ts';
import type { OptionalLayer } from './optional-layer.ts';
import { measureObjects } from './metrics/measure-objects.ts';
import { meteredTenants } from './metrics/metered-tenants.ts';
import type { MeteredFacts } from './metrics/metered-tenants.ts';
import { QuotaMeter } from './metrics/quota-meter.ts';
import { serveMetrics } from './serve-metrics.ts';
import { Shards } from './shards/shards.ts';
import { serveAdmission } from './admission/serve-admission.ts';
import { version } from './version.ts';
import { withinNamespace } from './admission/within-namespace.ts';

const clock = systemClock;
const leaseName = 'steward.butlerlabs.dev';
/** Holds that Lease for all managers that share the objects. */
const shardsIdentity = 'steward-shards';
/** Grace period of running reconciles when the process is asked to terminate, in milliseconds. */
const graceMs = 5_000;

/** The common dependencies of the manager's parts. */
interface Base {
  readonly settings: ManagerSettings;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly closing: Closing;
  /** Resolved with the exit code. */
  readonly ended: PromiseWithResolvers<number>;
}

/** Runs the manager until a signal ends it, or until it must not lead anymore. The answer is the exit code. */
export async function runManager(settings: ManagerSettings, lastResort: LastResort): Promise<number> {
  const log = createWinstonLogger({ ...settings.log, stream: process.stdout, now: () => clock.now() });
  const base: Base = {
    settings,
    log,
    metrics: new Metrics(),
    closing: new Closing(),
    ended: Promise.withResolvers<number>(),
  };
  lastResort.use(log);
  base.metrics.watchUnhandled(() => lastResort.errors);
  startTracing(base);
  base.closing
    .add(new IdleCollector({ clock, ...ownHeap() }), (collector) => {
      collector.stop();
    })
    .start();
  log.info('starting', { version, node: process.version, leaderElection: settings.leaderElect });
  for (const variable of settings.strayVariables) log.warn('this environment variable names no flag', { variable });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      log.info('stopping', { signal });
      base.ended.resolve(0);
    });
  }
  try {
    return await work(base);
  } finally {
    await base.closing.close();
  }
}

async function work(base: Base): Promise<number> {
  const { settings, closing, ended } = base;
  const client = closing.add(openManagementCluster(base), (cluster) => cluster.close());
  const informers = closing.add(new InformerFactory({ cluster: client, log: base.log }), (factory) => factory.close());
  const election = electionOf(base, client);
  const shards = shardsOf(base, client);
  const mayWrite = (): void => {
    election.assertLeads();
    shards?.membership.assertFresh();
  };
  const access = guardedAccess({
    client,
    open: (connection, limits) => openCluster(connection, measured(base, limits)),
    clock,
    mayWrite: settings.leaderElect ? mayWrite : () => undefined,
    atSocket: settings.shards,
  });
  let layerTrouble = (): string | undefined => undefined;
  const { manager, layer, meters, enqueue } = managersOf(base, {
    access,
    informers,
    shards,
    layerTrouble: () => layerTrouble(),
  });
  let starting = true;
  const startUp = { name: 'start-up', check: () => (starting ? 'caches and webhooks are not ready yet' : undefined) };
  const ready = [
    startUp,
    ...manager.checks(),
    contactCheck(client, clock),
    ...(layer === undefined ? [] : [layer.health]),
  ];
  await serve(base, settings.health, healthPages({ alive: [], ready }));
  await serveMetrics({ ...base, clock, cluster: client });

  const stop = new AbortController();
  const start = async (): Promise<void> => {
    const parts = { ...base, clock, cluster: client, informers, signal: stop.signal, enqueue };
    // Nothing waits for the layer: it starts on its own once it has what it needs and this process leads.
    const mayWork = settings.leaderElect ? election.elected : Promise.resolve();
    if (layer !== undefined) detached(layer.run(mayWork), base.log, 'the layer of cluster stacks');
    const [admission] = await Promise.all([serveAdmission(parts), manager.follow()]);
    ready.push(...admission.checks);
    layerTrouble = admission.layerTrouble;
    starting = false;
    if (settings.leaderElect) {
      election.start();
      await election.elected;
    }
    shards?.membership.start();
    await manager.start();
    for (const meter of meters) meter.start();
  };
  const started = start().catch((error: unknown) => {
    if (!stop.signal.aborted) ended.reject(error);
  });
  try {
    const code = await ended.promise;
    // A manager that lost leadership must not write anymore: running reconciles are aborted at once.
    const grace = code === 0 ? graceMs : 0;
    const atRest = await Promise.all([manager.stop(grace), layer?.stop(grace)]);
    // What still runs may write: no other manager may begin before this process has ended.
    if (!atRest.includes(false)) await (shards?.membership ?? election).release();
    return code;
  } finally {
    stop.abort(new Error('the manager is shutting down'));
    // A start that is stuck in its first reads ends with the process.
    await Promise.race([started, sleep(clock, 1_000)]);
  }
}

function openManagementCluster(base: Base): Cluster {
  const { environment, kubeconfig } = base.settings;
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = environment;
  const connection = kubeconfig === '' ? inClusterConnection(host, port) : loadKubeconfigFile(kubeconfig);
  return openCluster(connection, measured(base, { name: 'management' }));
}

/** Counts every request; all tenants are one host, so that a thousand of them are not a thousand series. */
function measured({ metrics }: Base, options: ClusterOptions): ClusterOptions {
  const onRequest = ({ cluster, verb, code, ms }: RequestMeasure): void => {
    metrics.request({ verb, code: code === 0 ? '<error>' : code, host: cluster, seconds: ms / 1000 });
    pastSpan(`${verb} ${cluster}`, { 'http.response.status_code': code }, ms);
  };
  return { ...options, userAgent: `steward/${version}`, onRequest };
}

/** This manager among those that share the objects; undefined when only one of them works at a time. */
function shardsOf(base: Base, cluster: Cluster): Shards | undefined {
  const { settings, log, metrics } = base;
  if (!settings.shards) return undefined;
  const ends = (leftMs: number): void => {
    lost(base, leftMs);
  };
  return new Shards({ settings, cluster, clock, log, metrics, lost: ends });
}

/** This process must not write anymore. */
function lost({ ended }: Base, leftMs?: number): void {
  endOfLeadership({
    clock,
    ...(leftMs !== undefined && { leftMs }),
    stop: () => {
      ended.resolve(1);
    },
    exit: () => process.exit(1),
  });
}

function electionOf(base: Base, cluster: Cluster): LeaderElection {
  const { settings, log, metrics } = base;
  const { podName, podUid } = settings;
  const place = podUid === '' || settings.shards ? undefined : `${podName}_${podUid}_`;
  return new LeaderElection({
    cluster,
    clock,
    log,
    lease: { namespace: settings.podNamespace, name: leaseName },
    // Managers that share the objects hold the Lease together: one that does not would have all of them to itself.
    identity: settings.shards ? shardsIdentity : `${place ?? `${podName}_`}${randomUUID()}`,
    predecessors: place,
    isShared: settings.shards,
    random: Math.random,
    status: (leads) => {
      metrics.leading(leaseName, leads);
    },
    lost: () => {
      lost(base);
    },
  });
}

/** The controllers at work: those that are always there, and the optional layer if it is switched on. */
interface Managers {
  readonly manager: Manager;
  readonly layer: OptionalLayer | undefined;
  /** Measure the data of tenants once they are started. */
  readonly meters: readonly Pick<TenancyMeter, 'start'>[];
  /** Enqueues an object for a controller of any of the managers. */
  readonly enqueue: (controller: string, key: Key) => void;
}

interface ManagerParts {
  readonly access: GuardedAccess;
  readonly informers: InformerFactory;
  /** Absent when this manager reconciles all objects. */
  readonly shards: Shards | undefined;
  /** Why the webhooks of the layer are not trusted yet. */
  readonly layerTrouble: () => string | undefined;
}

function managersOf(base: Base, { access, informers, shards, layerTrouble }: ManagerParts): Managers {
  const { settings, log, metrics, closing } = base;
  const memory = new ObjectMemory();
  const { cluster, open } = access;
  const sessions = closing.add(access.sessions, (all) => all[Symbol.asyncDispose]());
  const tenantSessions = new Http2Sessions({ clock, random: Math.random });
  const openTenant: typeof open = (connection, limits) => open(connection, { ...limits, sessions: tenantSessions });
  const pool = closing.add(new TenantPool({ clock, log, open: openTenant, memory }), (clients) => clients.close());
  const watches = settings.watchTenants ? closing.add(tenantWatches(memory, tenantSessions), closeLines) : undefined;
  const prober = proberOf(base, memory);
  const useMeter = closing.add(new UseMeter({ clock, log, memory, random: Math.random }), (open) => {
    open.close();
  });
  const external = closing.add(
    new ExternalClusters({
      cluster,
      clock,
      log,
      random: Math.random,
      memory,
      open,
      enqueue: (key) => {
        enqueue('stewardcontrolplane', key);
      },
    }),
    (clusters) => clusters.close(),
  );
  const instance = settings.podName;
  const events = new EventRecorder({ cluster, clock, log, controller: `${leaseName}/manager`, instance, memory });
  const scoped = withinNamespace(informers, settings.namespace);
  // Nothing is enqueued before the managers exist.
  const enqueue = (controller: string, key: Key): void => {
    managers.find((one) => one.has(controller))?.enqueue(controller, key);
  };
  const managers: Manager[] = [];
  const infrastructureWatches = new InfrastructureWatches({
    ...{ cluster, clock, log, random: Math.random, memory, namespace: settings.namespace },
    enqueue: (key) => {
      enqueue('stewardcontrolplane', key);
    },
  });
  const infrastructure = closing.add(infrastructureWatches, (open) => open[Symbol.asyncDispose]());
  const blockerWatches = new BlockerWatches({
    ...{ cluster, clock, log, random: Math.random, memory },
    enqueue: (key) => {
      enqueue('stewardcontrolplane', key);
    },
  });
  const blockers = closing.add(blockerWatches, (open) => open[Symbol.asyncDispose]());
  // What no controller of this process watches is not watched for its metrics alone.
  const { controllers, defaultDataStore } = settings;
  const hasTenants = controllers.has('tenantcontrolplane');
  const isOwn = (object: Draft): boolean => shards?.owns(object) !== false;
  const tenants = () => (hasTenants ? scoped.informer({ kind: tenantControlPlane }).list().filter(isOwn) : []);
  const stores = new StoreAccess({ drivers, sessions, read: secretReader((key) => cluster.get(kinds.Secret, key)) });
  const measured = (): MeteredFacts => {
    // Where there are tenants, their controller watches the DataStores.
    const dataStores = hasTenants ? scoped.informer({ kind: dataStore }).list() : [];
    return { tenants: tenants(), dataStores, stores, defaultDataStore };
  };
  const quotas = closing.add(
    new QuotaMeter({
      ...{ clock, log, memory, facts: measured },
      enqueue: (key) => {
        enqueue('tenantcontrolplane', key);
      },
    }),
    (open) => {
      open.close();
    },
  );
  const parts = { informers: scoped, clock, memory, sessions, pool, watches, prober, useMeter, quotas, metrics };
  const tenantShards = shards?.tenants(cluster);
  const shared = { ...parts, cluster, infrastructure, blockers, external, tenantShards, enqueue };
  const metricsOf = (name: string) => metrics.ofController(name);
  const managerOf = (controllers: readonly Controller[], log: Logger): Manager => {
    const share = shards === undefined ? {} : { share: shards.membership };
    const common = { cluster, informers: scoped, clock, log, events, metricsOf, memory, ...share };
    const manager = new Manager({ controllers, ...common });
    managers.push(manager);
    return manager;
  };
  const core = coreControllers(settings, shared);
  const manager = managerOf(core.controllers, log);
  const { layerWatches } = core;
  const layer = clusterStacksLayer(settings, {
    ...{ shared, layerWatches, log, closing },
    everywhere: informers,
    manager: managerOf,
    webhookTrouble: layerTrouble,
  });
  const meter = meterOf(base, memory, () => meteredTenants(measured()));
  if (settings.objectMetrics) {
    measureObjects(metrics, {
      now: () => clock.now(),
      tenants,
      secrets: () => (hasTenants ? scoped.informer(ownedSecrets).list() : []),
      dataStores: () => (controllers.has('datastore') ? scoped.informer({ kind: dataStore }).list().filter(isOwn) : []),
      policies: () =>
        hasTenants && settings.gates.backups ? scoped.informer({ kind: backupPolicy, optional: true }).list() : [],
      pools: () => (hasTenants ? scoped.informer({ kind: controlPlanePool, optional: true }).list() : []),
      claims: () => (hasTenants ? scoped.informer({ kind: controlPlaneClaim, optional: true }).list() : []),
      defaultDataStore,
      probes: (uid) => prober?.results(uid) ?? new Map<ProbePath, ProbeResult>(),
      dataSize: (uid) => meter?.size(uid),
      dataWrites: (uid) => quotas.writesOf(uid) ?? meter?.size(uid)?.writes,
    });
  }
  metrics.watchRunning(() => new Map(managers.flatMap((one) => [...one.runningSeconds()])));
  return { manager, layer, meters: [quotas, ...(meter === undefined ? [] : [meter])], enqueue };
}

const closeLines = (lines: TenantWatches): void => {
  lines.close();
};

/** A new user waits this long for an API server at most: until then, the probe does not count as failed. */
const probeTimeoutMs = 5000;

function proberOf({ settings, closing, log }: Base, memory: ObjectMemory): TenantProber | undefined {
  const { probeIntervalMs } = settings;
  if (probeIntervalMs === undefined) return undefined;
  const prober = new TenantProber({
    ...{ clock, log, memory, intervalMs: probeIntervalMs, random: Math.random },
    probe: (server) => probe(server, probeTimeoutMs),
  });
  return closing.add(prober, (open) => {
    open.close();
  });
}

function meterOf(
  { settings, closing, log }: Base,
  memory: ObjectMemory,
  tenants: TenancyMeterOptions['tenants'],
): TenancyMeter | undefined {
  const { sizeIntervalMs: intervalMs } = settings;
  if (intervalMs === undefined) return undefined;
  return closing.add(new TenancyMeter({ clock, log, memory, intervalMs, tenants }), (open) => {
    open.close();
  });
}

function tenantWatches(memory: ObjectMemory, sessions: Http2Sessions): TenantWatches {
  return new TenantWatches({
    clock,
    memory,
    random: Math.random,
    select: selectionInTenant,
    open: (connection) =>
      openHttp2Line(connection, { clock, random: Math.random, sessions, userAgent: `steward/${version}` }),
  });
}

async function serve({ log, closing }: Base, address: ListenAddress | undefined, pages: Pages): Promise<void> {
  if (address === undefined) return;
  const endpoints = closing.add(new HttpEndpoints(pages, log), (server) => server.close());
  await endpoints.listen(bindText(address));
}
