import { kinds } from '../../api/core/kinds.ts';
import { activatorObjects } from '../../api/names.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { systemClock } from '../../runtime/clock.ts';
import { contactCheck, healthPages, HttpEndpoints, metricsPages } from '../../runtime/observe/http-endpoints.ts';
import { IdleCollector } from '../../runtime/heap/idle-collector.ts';
import { ownHeap } from '../../runtime/heap/own-heap.ts';
import type { Logger } from '../../runtime/observe/logger.ts';
import { createWinstonLogger } from '../../runtime/observe/winston-logger.ts';
import { Activator } from '../../tenants/activator/activator.ts';
import { CallerAddresses } from '../../tenants/activator/caller-addresses.ts';
import { ConnectionPlaces } from '../../tenants/activator/connection-places.ts';
import type { PlaceLimits } from '../../tenants/activator/connection-groups.ts';
import { PortListeners } from '../../tenants/activator/port-listeners.ts';
import { ReadyPods } from '../../tenants/activator/ready-pods.ts';
import { apiServerAnswers } from '../../tenants/activator/api-server-answers.ts';
import { StartingPods } from '../../tenants/activator/starting-pods.ts';
import { essential, portTable, tenantSlices, TenantTable } from '../../tenants/activator/tenant-table.ts';
import { WakeRequests } from '../../tenants/activator/wake-requests.ts';
import { Closing } from '../closing.ts';
import { connectionOf } from '../connection-of.ts';
import { activatorFlags } from '../flags/activator-flags.ts';
import { readFlags, UsageError } from '../flags/flags.ts';
import { version } from '../version.ts';
import { activatorMetrics } from './activator-metrics.ts';
import type { Ending } from './end-in-turn.ts';
import { serveUntilSignal } from './serve-until-signal.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What the heap may grow by: 100 callers that are held at once take 2 MiB. To collect it takes 20 ms. */
const spareBytes = 2 * 1024 * 1024;

/** A pod that starts has so much time to say whether it is ready, in milliseconds. */
const answerMs = 1_000;

/** What `steward activator` is started with. */
export interface ActivatorSettings {
  /** The namespace of the manager. */
  readonly namespace: string;
  readonly health: string;
  readonly background: CallerAddresses;
  readonly limits: PlaceLimits;
}

/** Reads the command line. Throws `UsageError` that names the flag and what is possible. */
export function readActivatorSettings(args: readonly string[], environment: Environment): ActivatorSettings {
  const flags = readFlags(activatorFlags, args);
  const namespace = flags['pod-namespace'] || (environment.POD_NAMESPACE ?? '');
  if (namespace === '') throw new UsageError('expecting a value for --pod-namespace arg, or $POD_NAMESPACE');
  const limits = { most: flags['max-connections'], mostOfTenant: flags['max-connections-per-tenant'] };
  if (limits.most < 1) throw new UsageError('--max-connections must be at least 1');
  if (limits.mostOfTenant < 1) throw new UsageError('--max-connections-per-tenant must be at least 1');
  const networks = flags['background-networks'].split(',').map((network) => network.trim());
  try {
    const background = new CallerAddresses({ networks: networks.filter((network) => network !== '') });
    return { namespace, health: flags['health-probe-bind-address'], background, limits };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(`--background-networks: ${error.message}`, { cause: error });
  }
}

/** `steward activator`: holds the first calls of control planes that sleep, and has them woken up. The answer is the exit code. */
export async function runActivator(args: readonly string[], environment: Environment): Promise<number> {
  const settings = readActivatorSettings(args, environment);
  const connection = connectionOf(readFlags(activatorFlags, args).kubeconfig, environment);
  const log = createWinstonLogger({
    ...{ level: 'info', format: 'json', stream: process.stdout },
    now: () => systemClock.now(),
  });
  const cluster = openCluster(connection, { name: 'management', userAgent: `steward-activator/${version}` });
  const closing = new Closing();
  closing.add(cluster, (open) => open.close());
  const start = async (): Promise<RunningActivator> => {
    const running = closing.add(await startActivator(cluster, settings, log), (open) => open.close());
    const collector = new IdleCollector({ clock: systemClock, ...ownHeap(), spareBytes });
    closing.add(collector, (open) => {
      open.stop();
    });
    collector.start();
    return running;
  };
  try {
    await serveUntilSignal(start, { clock: systemClock, log, signals: process });
    return 0;
  } finally {
    await closing.close();
  }
}

/** An activator that has been started. */
export interface RunningActivator extends Ending {
  /** Port of /healthz, /readyz and /metrics. */
  readonly healthPort: number | undefined;
  /** Resolves when the tables are complete. */
  readonly ready: Promise<void>;
  /** Connections that are open end with the process. */
  readonly close: () => Promise<void>;
}

/** Starts all of the activator; it listens on `host`, which is every address by default. */
export async function startActivator(
  cluster: Cluster,
  { namespace, health, background, limits }: ActivatorSettings,
  log: Logger,
  host?: string,
): Promise<RunningActivator> {
  const clock = systemClock;
  const closing = new Closing();
  const informers = closing.add(new InformerFactory({ cluster, log, transform: essential }), (open) => open.close());
  const table = new TenantTable({
    clock,
    ports: informers.informer(portTable(namespace)),
    slices: informers.informer(tenantSlices),
  });
  const pods = new ReadyPods();
  const starting = closing.add(
    new StartingPods({
      clock,
      log,
      pods,
      answers: (address, signal) => apiServerAnswers(address, { clock, answerMs, signal }),
    }),
    (open) => {
      open.close();
    },
  );
  const key = { namespace, name: activatorObjects.wakeRequests };
  const wakes = closing.add(
    new WakeRequests({
      clock,
      log,
      send: async (tenant, caller) => {
        const data = { [tenant.replace('/', '.')]: clock.now().toISOString() };
        await cluster.patch(kinds.ConfigMap, key, { type: 'merge', body: { data } });
        log.info('requested that a control plane wakes up', { tenant, caller });
      },
    }),
    (open) => {
      open.close();
    },
  );
  const places = new ConnectionPlaces(limits);
  const { registry, ended, displaced } = activatorMetrics(() => ({ held: activator.held, open: places.size }));
  const activator = new Activator({ clock, places, pods, wakes, starting, background, ended, displaced });
  const listeners = closing.add(
    new PortListeners({
      clock,
      log,
      ...(host !== undefined && { host }),
      serve: (socket, tenant) => activator.serve(socket, table.called(tenant)),
    }),
    (open) => {
      open.close();
    },
  );
  let isSynced = false;
  let isEnding = false;
  let isDeaf = false;
  const checks = [
    { name: 'ending', check: () => (isEnding ? 'it ends, and serves until nobody is led here' : undefined) },
    { name: 'informer-sync', check: () => (isSynced ? undefined : 'the tables are not complete yet') },
    {
      name: 'ports',
      check: () => (listeners.missing === 0 ? undefined : `${listeners.missing} ports are not listened on yet`),
    },
    contactCheck(cluster, clock),
  ];
  const pages = { ...healthPages({ alive: [], ready: checks }), ...metricsPages(registry) };
  const endpoints = closing.add(new HttpEndpoints(pages, log), (open) => open.close());
  const healthPort = await endpoints.listen(health);
  const ready = informers.synced().then(() => {
    table.follow({ pods, starting });
    table.onPorts(() => {
      if (!isDeaf) listeners.set(table.ports());
    });
    isSynced = true;
  });
  return {
    healthPort,
    ready,
    beUnready: () => {
      isEnding = true;
    },
    stopListening: () => {
      isDeaf = true;
      listeners.close();
    },
    over: () => listeners.over(),
    close: () => closing.close(),
  };
}
