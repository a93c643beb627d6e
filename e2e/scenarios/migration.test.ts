import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { KubernetesClient } from '../cluster/kubernetes-client.ts';
import type { PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { runCommand } from '../cluster/machines/run-command.ts';
import { slowness } from '../cluster/slowness.ts';
import type { Worker } from '../cluster/worker.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { giveControlPlaneImages } from '../framework/control-plane-images.ts';
import { differences, dumpObjects } from '../framework/dump-objects.ts';
import { openHowTo } from '../framework/how-to-page.ts';
import type { HowToPage } from '../framework/how-to-page.ts';
import { boundsOf, loadShortfalls, tooLong } from '../framework/load/load-shortfalls.ts';
import { underLoad as underLoadOf } from '../framework/load/under-load.ts';
import { untilReached } from '../framework/network/until-reached.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import type { StewardCluster } from '../framework/steward-cluster.ts';
import { etcdWitness, postgresWitness } from '../framework/load/store-witness.ts';
import { logStep } from '../framework/log.ts';
import { TenantLoad } from '../framework/load/tenant-load.ts';
import { isCondition, TenantStage } from '../framework/tenant-stage.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { agnhost } from '../framework/web-pod.ts';
import { workerRuns } from '../framework/workers/worker-runs.ts';
import { storeImageArchive } from '../tools/store-images.ts';
import { minutes } from '../framework/minutes.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';

const owned = scenarioResources();
const shop = 'shop';

let steward: StewardCluster | undefined;
let cluster: ManagementCluster;
let stage: TenantStage;
let page: HowToPage;
let drainPage: HowToPage;
let client: KubernetesClient;
let worker: Worker | undefined;
let empty: { readonly etcd: readonly string[]; readonly postgres: readonly string[] };

beforeAll(async () => {
  steward = owned.use(await shareStewardCluster(owned.harness(`moves-${process.pid}`), logStep));
  cluster = steward.cluster;
  owned.defer(async () => worker?.stop());
  stage = new TenantStage(cluster, 'tenants');
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } }]);
  const progress = (line: string): void => {
    logStep('postgres', line);
  };
  await cluster.loadImage((await storeImageArchive('postgres', { progress })).path);
  await (await openHowTo(cluster, 'datastore-postgres')).run('Quick start');
  page = await openHowTo(cluster, 'migrate-a-tenant');
  drainPage = await openHowTo(cluster, 'drain-a-datastore');
  await page.run('Migrate a tenant to another DataStore');
  empty = { etcd: await etcdWitness(cluster), postgres: await postgresWitness(cluster) };
}, 25 * minutes);

interface Migration {
  readonly phase: string;
  readonly keys?: number;
  readonly bytes?: number;
  readonly pauseMs?: number;
  readonly rolloutMs?: number;
  readonly writesStoppedAt?: string;
  readonly rolledOutAt?: string;
}

async function migration(): Promise<Migration | undefined> {
  const found = await cluster.client.read(stage.tenant(shop));
  return (found?.status?.storage as { readonly migration?: Migration } | undefined)?.migration;
}

/** Why the tenant may not be deleted now; empty when it may. */
async function deletionRefusal(): Promise<string> {
  const asked = ['-n', 'tenants', 'delete', 'tcp', shop, '--dry-run=server'];
  return cluster.kubectl(asked).then(
    () => '',
    (error: unknown) => (error as Error).message,
  );
}

/** Deletes the tenant; false when that was refused because it is Migrating. */
async function isDeleted(): Promise<boolean> {
  try {
    await cluster.kubectl(['-n', 'tenants', 'delete', 'tcp', shop, kubectlTimeout(180)], { timeoutMs: 200_000 });
    return true;
  } catch (error) {
    if (String(error).includes(refusedMeanwhile)) return false;
    throw error;
  }
}

const refusedMeanwhile = 'cannot be deleted while its data is being migrated to another DataStore';

const seconds = (ms = 0): string => `${(ms / 1000).toFixed(1)} s`;

const webWith = (image: string): PlainObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'web', image, args: ['netexec'], imagePullPolicy: 'IfNotPresent' }],
      },
    },
  },
});

/** Objects of many shapes: own kinds, bytes that are no text, values near the largest, names at the limits. */
function furniture(): readonly PlainObject[] {
  const metadata = (name: string): object => ({ name, namespace: 'furniture' });
  const letters = 'ä漢🙂"\\\u0001'.repeat(20);
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'furniture' } },
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'chairs.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'chairs', singular: 'chair', kind: 'Chair', listKind: 'ChairList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    },
    ...Array.from({ length: 150 }, (_, at): PlainObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: metadata(`map-${at}-${'x'.repeat(at)}`.slice(0, 200).replace(/-$/, '')),
      data: { letters, at: String(at) },
    })),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('large'), data: { large: 'l'.repeat(1_000_000) } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: metadata('bytes'),
      data: { bytes: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64') },
    },
    ...Array.from({ length: 30 }, (_, at): PlainObject => ({
      apiVersion: 'example.com/v1',
      kind: 'Chair',
      metadata: metadata(`chair-${at}`),
      legs: at,
    })),
  ];
}

/** Logs the state of the tenant and its pods until it is stopped. */
async function follow(title: string, signal: AbortSignal): Promise<void> {
  let last = '';
  while (!signal.aborted) {
    const phase = (await untilReached(migration))?.phase ?? 'none';
    const listed = await untilReached(() => cluster.client.list('v1', 'Pod', 'tenants'));
    const pods = listed.map(({ metadata, status }) => {
      const started = (status?.containerStatuses ?? []) as { readonly ready: boolean; readonly restartCount: number }[];
      const ready = started.filter((container) => container.ready).length;
      const restarts = started.reduce((sum, { restartCount }) => sum + restartCount, 0);
      const leaving = 'deletionTimestamp' in (metadata ?? {}) ? ' leaving' : '';
      return `${metadata?.name?.slice(-5) ?? ''} ${ready}/${started.length}${restarts > 0 ? ` ${restarts} restarts` : ''}${leaving}`;
    });
    const now = [phase, ...pods.toSorted()].join(', ');
    if (now !== last) logStep(title, now);
    last = now;
    await pause(200);
  }
}

/** Uses the tenant while `work` is done, and says what its users have seen. */
async function underLoad(title: string, work: () => Promise<void>): Promise<void> {
  const kubeconfig = await stage.kubeconfig(shop);
  const load = new TenantLoad(client, {
    namespace: 'furniture',
    writesPerSecond: 60,
    readsPerSecond: 40,
    registers: 12,
    newcomersPerSecond: 4,
    newcomer: () => new KubernetesClient(kubeconfig),
    floor: stage.cluster.client,
  });
  await load.start();
  await pause(3000);
  const began = performance.now();
  const end = new AbortController();
  const following = follow(title, end.signal);
  const failure = await work()
    .then(() => pause(3000))
    .then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
  end.abort();
  await following;
  const lasted = performance.now() - began;
  const report = await load.stop();
  const { phase, keys, bytes = 0, pauseMs = 0, rolloutMs = 0 } = (await migration()) ?? { phase: 'none' };
  logStep(
    title,
    `${phase} after ${seconds(lasted)}: ${keys ?? 0} keys, ${(bytes / 1024 / 1024).toFixed(1)} MiB; writes denied for ${seconds(pauseMs)}, ${seconds(pauseMs - rolloutMs)} of it outside the rollout`,
  );
  const asked = report.writes + report.denied + report.failedWrites.length;
  logStep(
    title,
    `${report.writes} writes, ${report.denied} denied, ${report.failedWrites.length} failed, ${(asked / (lasted / 1000)).toFixed(0)} asked for in a second; longest time without one ${seconds(report.longestPauseMs)}`,
  );
  logStep(
    title,
    `${report.reads} reads, ${report.failedReads.length} failed, ${report.staleReads} stale; ${report.repeated} requests repeated because the server wanted them later`,
  );
  const lost = await load.lost();
  logStep(title, `${lost.length} lost writes`);
  for (const line of new Set([...report.failedWrites, ...report.failedReads])) logStep(title, line);
  if (failure !== undefined) throw failure.error;
  // Writes are denied while the data is compared, as long as the migration says; that is the longer pause.
  const shortfalls = loadShortfalls(report, pauseMs);
  expect({ lost, failedReads: report.failedReads, staleReads: report.staleReads, shortfalls }).toEqual({
    lost: [],
    failedReads: [],
    staleReads: 0,
    shortfalls: [],
  });
  expect(asked).toBeGreaterThan(1000);
}

describe('A tenant that is migrated from etcd to PostgreSQL and back', () => {
  test(
    'is Ready on etcd, has a worker, and has objects',
    async () => {
      await cluster.apply([
        stage.manifest(shop, {
          controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } },
          kubernetes: { version: 'v1.36.3', kubelet: machineKubelet },
          networkProfile: { serviceCidr: cluster.network.services, podCidr: cluster.network.pods },
          addons: { coreDNS: {}, kubeProxy: {} },
        }),
      ]);
      const { controlPlaneEndpoint = '' } = await stage.waitFor(shop, 'Ready');
      client = await stage.open(shop);
      const joined = await joinByHand(stage, { tenant: shop, endpoint: controlPlaneEndpoint, worker: 'shop-worker' });
      worker = joined;
      await client.apply([...furniture(), webWith(agnhost)]);
      await client.waitFor(
        { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' },
        'Available',
        {
          timeoutMs: 3 * minutes,
          diagnose: () => joined.machine.lastWords(),
        },
      );
    },
    8 * minutes,
  );

  test(
    'is migrated to PostgreSQL while it is used: nothing is lost, no read fails, and nothing on its worker restarts',
    async () => {
      const before = await workerRuns(client, worker);
      await underLoad('etcd → PostgreSQL', async () => {
        await page.run('Start the migration');
        await stage.waitFor(shop, 'Ready', { timeoutMs: 3 * minutes });
      });
      expect((await migration())?.phase).toBe('Succeeded');
      expect(await workerRuns(client, worker)).toEqual(before);
      await client.waitFor({ apiVersion: 'v1', kind: 'Node', name: 'shop-worker' }, 'Ready');
      await client.merge({ ...webAddress }, { spec: { replicas: 2 } });
      await client.waitFor(webAddress, (object) => object?.status?.readyReplicas === 2, {
        timeoutMs: 2 * minutes,
        diagnose: () => worker?.machine.lastWords() ?? Promise.resolve(''),
      });
      for (const event of await stage.events(shop)) if (event.startsWith('Migration')) logStep('Event', event);
    },
    15 * minutes,
  );

  test(
    'leaves a copy in etcd that its credentials cannot access',
    async () => {
      const { users, roles } = linesOf(await etcdWitness(cluster), empty.etcd);
      expect(users).toEqual([]);
      expect(roles).toHaveLength(1);
      const store = await cluster.client.read(dataStoreAddress('default'));
      expect(store?.status?.usedBy).toEqual([`tenants/${shop}`]);
    },
    minutes,
  );

  test(
    'has nothing in etcd anymore when the old copy is removed',
    async () => {
      await page.run('Remove the old copy');
      expect(await etcdWitness(cluster)).toEqual(empty.etcd);
      const store = await cluster.client.read(dataStoreAddress('postgres-store'));
      expect(store?.status?.usedBy).toEqual([`tenants/${shop}`]);
    },
    2 * minutes,
  );

  test(
    'is migrated back to etcd by a drain of PostgreSQL, and every object is byte by byte what it was when writes were denied',
    async () => {
      const before = await workerRuns(client, worker);
      await cluster.kubectl([
        '-n',
        'tenants',
        'annotate',
        'tcp',
        shop,
        `steward.butlerlabs.dev/migration-minimum-hold=${Math.ceil((minutes * slowness()) / 1000)}s`,
      ]);
      await underLoad('PostgreSQL → etcd', async () => {
        const drained = drainPage.run('Start the drain');
        await stage.waitFor(shop, isMigrating, { timeoutMs: 10 * minutes, what: 'Migrating' });
        const old = await dumpObjects(client);
        expect((await migration())?.rolledOutAt).toBeUndefined();
        await stage.waitFor(shop, (object) => rolledOut(object), { timeoutMs: 3 * minutes, what: 'the rollout' });
        const fresh = await dumpObjects(await stage.open(shop));
        expect(await deletionRefusal()).toContain(refusedMeanwhile);
        expect((await migration())?.writesStoppedAt).toBeDefined();
        const differ = differences(old, fresh).filter((line) => !ofItself.some((path) => line.startsWith(path)));
        logStep('PostgreSQL → etcd', `${old.size} objects compared while writes were denied, ${differ.length} differ`);
        expect(differ).toEqual([]);
        await stage.waitFor(shop, (object) => stateOf(object) === 'Ready', { timeoutMs: 3 * minutes });
        logStep('PostgreSQL → etcd', (await drained).trim());
      });
      expect((await migration())?.phase).toBe('Succeeded');
      expect(await workerRuns(client, worker)).toEqual(before);
      await cluster.kubectl([
        '-n',
        'tenants',
        'annotate',
        'tcp',
        shop,
        'steward.butlerlabs.dev/migration-minimum-hold-',
      ]);
    },
    15 * minutes,
  );

  test(
    'stays there when its spec names that DataStore and the drain ends, and left nothing in PostgreSQL',
    async () => {
      const at = shareOf(await cluster.client.read(stage.tenant(shop)));
      await drainPage.run('Change the manifests');
      await drainPage.run('Remove the copies');
      await drainPage.run('End the drain');
      expect(drainPage.untried).toEqual([]);
      await stage.waitFor(shop, (object) => storageOf(object)?.drain === undefined, { what: 'the end of the drain' });
      expect(shareOf(await cluster.client.read(stage.tenant(shop)))).toEqual(at);
      expect((await migration())?.phase).toBe('Succeeded');
      await stage.waitFor(shop, (object) => storageOf(object)?.previous === undefined, { what: 'no copy left' });
      expect(await postgresWitness(cluster)).toEqual(empty.postgres);
    },
    2 * minutes,
  );

  test(
    'can be canceled, and is as before then',
    async () => {
      const at = await cluster.client.read(stage.tenant(shop));
      await cluster.client.merge(stage.tenant(shop), { spec: { dataStore: 'postgres-store' } });
      await stage.waitFor(shop, (object) => migrationOf(object)?.phase !== 'Succeeded');
      await page.run('Cancel the migration');
      await stage.waitFor(shop, 'Ready');
      expect(shareOf(await cluster.client.read(stage.tenant(shop)))).toEqual(shareOf(at));
      await client.apply([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'after', namespace: 'default' } }]);
    },
    6 * minutes,
  );

  test(
    'leaves nothing in any datastore if it is deleted during a migration',
    async () => {
      await cluster.client.merge(stage.tenant(shop), { spec: { dataStore: 'postgres-store' } });
      await stage.waitFor(
        shop,
        (object) => migrationOf(object)?.phase === 'Copying' || migrationOf(object)?.keys !== undefined,
      );
      // While it is Migrating the deletion is refused, and the user tries again.
      while (!(await isDeleted())) await pause(250);
      expect(page.untried).toEqual([]);
      expect(await etcdWitness(cluster)).toEqual(empty.etcd);
      expect(await postgresWitness(cluster)).toEqual(empty.postgres);
      expect(
        await cluster.client.list('batch/v1', 'Job', 'steward-system', 'steward.butlerlabs.dev/component=migrate'),
      ).toEqual([]);
    },
    6 * minutes,
  );
});

describe('A tenant of the oldest minor, whose API servers cannot deny writes, that is migrated to PostgreSQL and back', () => {
  const [vintage, oldest] = ['vintage', 'v1.29.15'] as const;
  const vintageWorker = 'vintage-worker';
  /** The image that workers of this minor have. */
  const oldAgnhost = 'registry.k8s.io/e2e-test-images/agnhost:2.45';
  let old: KubernetesClient;
  let theirs: Worker | undefined;

  const record = async (): Promise<Migration | undefined> =>
    migrationOf(await cluster.client.read(stage.tenant(vintage)));
  const moveTo = async (dataStore: string): Promise<void> => {
    await cluster.client.merge(stage.tenant(vintage), { spec: { dataStore } });
  };
  /** The DataStores that its pods use, as their label says. */
  const stores = async (): Promise<readonly unknown[]> =>
    (await stage.pods(vintage)).map(({ metadata }) => metadata?.labels?.['component.steward.butlerlabs.dev/datastore']);
  /** What it was given and nobody changes; what is in `default` is written all the time. */
  const givenObjects = async (): Promise<ReadonlyMap<string, string>> =>
    new Map([...(await dumpObjects(old))].filter(([path]) => path.includes(' furniture/') || path.includes('chairs.')));
  /** Reads a log on the worker, as soon as the agents of the tunnel have found their server. */
  const readLog = async (): Promise<string> => {
    const file = await stage.kubeconfigFile(vintage);
    const kubectl = path.join(cluster.harness.folder, 'bin', cluster.machine.record.kubernetes, 'kubectl');
    for (const deadline = deadlineIn(minutes); ;) {
      try {
        const { stdout } = await runCommand(kubectl, ['--kubeconfig', file, 'logs', 'deployment/web'], {
          timeoutMs: 30_000,
        });
        return stdout;
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await pause(1000);
      }
    }
  };

  async function wholeUnderLoad(title: string, work: () => Promise<void>): Promise<void> {
    const [before, objects] = [await workerRuns(old, theirs), await givenObjects()];
    const seen = await underLoadOf({ title, kubeconfig: await stage.kubeconfig(vintage), floor: cluster.client }, work);
    const { phase, pauseMs = 0, rolloutMs = 0, keys = 0 } = (await record()) ?? { phase: 'none' };
    logStep(
      title,
      `${phase}: ${keys} keys; API servers stopped for ${seconds(pauseMs)}, ${seconds(rolloutMs)} of it for the start on the target; longest time without a write ${seconds(seen.load.longestPauseMs)}`,
    );
    for (const event of await stage.events(vintage)) if (event.startsWith('Migration')) logStep('Event', event);
    const missed = seen.watches.flatMap((watch) => watch.missed);
    // Nobody gets an answer while no API server runs, and nobody is kept waiting for longer.
    const waits = tooLong({ 'longest time without a write': seen.load.longestPauseMs }, boundsOf(seen.load, pauseMs));
    expect({ missed, stale: seen.load.staleReads, waits }).toEqual({ missed: [], stale: 0, waits: [] });
    expect(differences(objects, await givenObjects())).toEqual([]);
    expect(await workerRuns(old, theirs)).toEqual(before);
    await old.waitFor({ apiVersion: 'v1', kind: 'Node', name: vintageWorker }, 'Ready');
  }

  test(
    'is Ready on etcd, has a worker behind a tunnel, and has objects',
    async () => {
      owned.defer(async () => theirs?.stop());
      await giveControlPlaneImages(cluster.machine, oldest);
      await cluster.apply([
        stage.manifest(vintage, {
          controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } },
          kubernetes: { version: oldest, kubelet: machineKubelet },
          networkProfile: { serviceCidr: cluster.network.services, podCidr: cluster.network.pods },
          addons: { coreDNS: {}, kubeProxy: {}, konnectivity: {} },
        }),
      ]);
      const { controlPlaneEndpoint = '' } = await stage.waitFor(vintage, 'Ready', { timeoutMs: 5 * minutes });
      old = await stage.open(vintage);
      const to = { tenant: vintage, endpoint: controlPlaneEndpoint, worker: vintageWorker, kubernetes: oldest };
      const joined = await joinByHand(stage, to);
      theirs = joined;
      await old.apply([...furniture(), webWith(oldAgnhost)]);
      await old.waitFor(webAddress, 'Available', {
        timeoutMs: 3 * minutes,
        diagnose: () => joined.machine.lastWords(),
      });
      expect(await readLog()).toContain('Started HTTP server');
    },
    10 * minutes,
  );

  test(
    'is migrated: its API servers are stopped for a moment, nothing is lost, and nothing on its worker restarts',
    async () => {
      await wholeUnderLoad('etcd → PostgreSQL, v1.29', async () => {
        await moveTo('postgres-store');
        await stage.waitFor(vintage, isCondition('ControlPlaneAvailable', 'False', 'StoppedForMigration'), {
          timeoutMs: 5 * minutes,
          what: 'API servers to be stopped',
        });
        await stage.waitFor(vintage, (object) => migrationOf(object)?.phase === 'Succeeded', {
          timeoutMs: 5 * minutes,
          what: 'the end of the migration',
        });
        await stage.waitFor(vintage, 'Ready', { timeoutMs: 3 * minutes });
      });
      expect(await stores()).toEqual(['postgres-store']);
      expect((await stage.events(vintage)).join('\n')).toMatch(/MigrationSucceeded.*the API servers were stopped for/);
      expect(await readLog()).toContain('Started HTTP server');
    },
    15 * minutes,
  );

  test(
    'serves from the same DataStore again when its migration is canceled while it is stopped',
    async () => {
      await wholeUnderLoad('canceled, v1.29', async () => {
        await moveTo('default');
        // The last comparison may end between two looks. No API server of the old store runs in either phase.
        const isStopped = (object: PlainObject | undefined): boolean =>
          ['Finishing', 'Switching'].includes(migrationOf(object)?.phase ?? '');
        await stage.waitFor(vintage, isStopped, {
          timeoutMs: 5 * minutes,
          what: 'no API server to run',
        });
        await moveTo('postgres-store');
        await stage.waitFor(vintage, (object) => migrationOf(object)?.phase === 'Cancelled', {
          timeoutMs: 5 * minutes,
          what: 'the cancellation',
        });
        await stage.waitFor(vintage, 'Ready', { timeoutMs: 3 * minutes });
      });
      expect(await stores()).toEqual(['postgres-store']);
    },
    15 * minutes,
  );

  test(
    'leaves nothing in any datastore when it is deleted',
    async () => {
      await cluster.kubectl(['-n', 'tenants', 'delete', 'tcp', vintage, kubectlTimeout(120)], { timeoutMs: 130_000 });
      expect(await etcdWitness(cluster)).toEqual(empty.etcd);
      expect(await postgresWitness(cluster)).toEqual(empty.postgres);
    },
    5 * minutes,
  );
});

const webAddress = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' };

const dataStoreAddress = (name: string): { apiVersion: string; kind: string; name: string } => ({
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'DataStore',
  name,
});

/** What API servers say of themselves, of which a new one has another name, and those that lead. */
const ofItself = ['apiserver-', 'kube-controller-manager', 'kube-scheduler'].map(
  (name) => `/apis/coordination.k8s.io/v1/leases kube-system/${name}`,
);

function migrationOf(object: PlainObject | undefined): Migration | undefined {
  return (object?.status?.storage as { readonly migration?: Migration } | undefined)?.migration;
}

function stateOf(object: PlainObject | undefined): string | undefined {
  const resources = object?.status?.kubernetesResources as
    { readonly version?: { readonly status?: string } } | undefined;
  return resources?.version?.status;
}

interface Storage {
  readonly drain?: object;
  readonly previous?: readonly object[];
  readonly dataStoreName?: string;
  readonly setup?: { readonly schema?: string; readonly user?: string };
}

function storageOf(object: PlainObject | undefined): Storage | undefined {
  return object?.status?.storage as Storage | undefined;
}

/** Where a tenant's data is. */
function shareOf(object: PlainObject | undefined): unknown {
  const { dataStoreName, setup } = storageOf(object) ?? {};
  return { dataStoreName, schema: setup?.schema, user: setup?.user };
}

const isMigrating = (object: PlainObject | undefined): boolean => stateOf(object) === 'Migrating';

const rolledOut = (object: PlainObject | undefined): boolean => migrationOf(object)?.rolledOutAt !== undefined;

/** Users and roles that one list of etcd's has more than another. */
function linesOf(
  now: readonly string[],
  before: readonly string[],
): { readonly users: readonly string[]; readonly roles: readonly string[] } {
  const more = now.filter((line) => !before.includes(line));
  return {
    users: more.filter((line) => line.startsWith('user ')),
    roles: more.filter((line) => line.startsWith('role ')),
  };
}
