import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { installClusterApi } from '../cluster/cluster-api.ts';
import type { KubernetesClient, PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { slowness } from '../cluster/slowness.ts';
import type { Worker } from '../cluster/worker.ts';
import { clusterManifests, controlPlaneManifest } from '../framework/cluster-api/cluster-manifests.ts';
import { capiVersion } from '../framework/cluster-api/cluster-stage.ts';
import { differences, dumpObjects } from '../framework/dump-objects.ts';
import { openHowTo } from '../framework/how-to-page.ts';
import type { HowToPage } from '../framework/how-to-page.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';
import { etcdWitness } from '../framework/load/store-witness.ts';
import { logStep } from '../framework/log.ts';
import { minutes } from '../framework/minutes.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { backedUpObjects } from '../framework/stores/backed-up-objects.ts';
import { startStewardCluster } from '../framework/steward-cluster.ts';
import { TenantStage } from '../framework/tenant-stage.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { workerRuns } from '../framework/workers/worker-runs.ts';
import { Workload } from '../framework/workload.ts';

const owned = scenarioResources();
const root = path.join(import.meta.dirname, '../..');
const shop = 'shop';

/** A write that was acknowledged so long before the loss must be there afterwards. In milliseconds. */
const mostLostMs = 10_000;

/** What there was of a Cluster before it was deleted. */
interface LostCluster {
  readonly endpoint: string;
  /** With the kubeconfig of that time. */
  readonly client: KubernetesClient;
  readonly worker: Worker;
  readonly ca: Readonly<Record<string, string>>;
  /** UID of the tenant's namespace kube-system: another tenant has another one. */
  readonly identity: string | undefined;
  readonly runs: unknown;
}

let cluster: ManagementCluster;
let stage: TenantStage;
let page: HowToPage;
let folder: string;
let client: KubernetesClient;
let worker: Worker | undefined;
let endpoint: string;
let furniture: ReadonlyMap<string, string>;
let empty: readonly string[];
let before: unknown;
let lost: LostCluster;

beforeAll(async () => {
  const steward = owned.use(await startStewardCluster(owned.harness(`backup-${process.pid}`), logStep));
  cluster = steward.cluster;
  owned.defer(async () => worker?.stop());
  stage = new TenantStage(cluster, 'tenants');
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'backups', namespace: 'steward-system' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  ]);
  empty = await etcdWitness(cluster);
  folder = path.join(cluster.harness.folder, `backup-${process.pid}`);
  await mkdir(folder);
  await symlink(path.join(root, 'config'), path.join(folder, 'config'));
  for (const name of ['backup.yaml', 'once.yaml', 'restore.yaml']) {
    await writeFile(path.join(folder, name), await manifestOf(name));
  }
  page = await openHowTo(cluster, 'back-up', { folder });
}, 20 * minutes);

/** A manifest that the page shows, by the name in its first line. */
async function manifestOf(name: string): Promise<string> {
  const text = await readFile(path.join(root, 'docs/how-to/back-up.md'), 'utf8');
  const [, manifest] = new RegExp(`\`\`\`yaml\n# ${name}\n(.*?)\n\`\`\``, 's').exec(text) ?? [];
  if (manifest === undefined) throw new Error(`The page shows no ${name}.`);
  return manifest;
}

const inFurniture = (dump: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...dump].filter(([name]) => name.includes(' furniture/') || name.includes('chairs.example.com')));

/** Creates ConfigMaps one after another until it is stopped; knows when each was acknowledged. */
class Writer {
  readonly acknowledged = new Map<string, number>();
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor() {
    this.#ended = this.#write();
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #write(): Promise<void> {
    for (let at = 0; !this.#stop.signal.aborted; at += 1) {
      const name = `written-${at}`;
      const isWritten = await client
        .apply([
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { at: String(at) } },
        ])
        .then(
          () => true,
          () => false,
        );
      if (isWritten) this.acknowledged.set(name, Date.now());
      await pause(30);
    }
  }
}

describe('A control plane that is backed up all the time', () => {
  let lostAt = 0;
  let writer: Writer;

  test(
    'has a worker and objects, and its backup runs as the page says',
    async () => {
      await cluster.apply([
        stage.manifest(shop, {
          controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } },
          kubernetes: { version: 'v1.36.3', kubelet: machineKubelet },
          networkProfile: {
            port: 31_577,
            serviceCidr: cluster.network.services,
            podCidr: cluster.network.pods,
          },
          addons: { coreDNS: {}, kubeProxy: {} },
        }),
      ]);
      ({ controlPlaneEndpoint: endpoint = '' } = await stage.waitFor(shop, 'Ready'));
      client = await stage.open(shop);
      worker = await joinByHand(stage, { tenant: shop, endpoint, worker: 'backup-worker' });
      await client.apply([...backedUpObjects]);
      const web = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' };
      await client.waitFor(web, 'Available', { timeoutMs: 3 * minutes });
      await page.run('Without Helm');
      await page.run('The key');
      await page.run('Back up all the time');
      await page.run('Back up once');
      const complete = ['tenantbackups', '--all', '--for=condition=Complete', kubectlTimeout(60)];
      const backups = await cluster.kubectl(['-n', 'tenants', 'wait', ...complete], { timeoutMs: 70_000 });
      expect(backups.stdout).toMatch(/shop-\d{8}t\d{9}z condition met/);
      furniture = inFurniture(await dumpObjects(client));
      before = await workerRuns(client, worker);
    },
    10 * minutes,
  );

  test(
    'is restored in a rehearsal as the page says, which leaves nothing',
    async () => {
      await page.run('Rehearse');
      const policy = await cluster.client.read({
        ...{ apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'BackupPolicy' },
        ...{ namespace: 'tenants', name: 'shop' },
      });
      const { rehearsal } = policy?.status as { readonly rehearsal?: { readonly keys: number } };
      logStep('rehearsal', JSON.stringify(rehearsal));
      expect(rehearsal?.keys).toBeGreaterThan(backedUpObjects.length);
      const gone = ['wait', 'tcp/shop-rehearsal', 'tenantrestore/shop-rehearsal', '--for=delete', kubectlTimeout(120)];
      await cluster.kubectl(['-n', 'tenants', ...gone], { timeoutMs: 130_000 });
      const names = (await cluster.client.list('steward.butlerlabs.dev/v1alpha1', 'TenantControlPlane', 'tenants')).map(
        ({ metadata }) => metadata?.name,
      );
      expect(names).toEqual([shop]);
    },
    10 * minutes,
  );

  test(
    'returns to a moment, and continues with its worker',
    async () => {
      const moment = new Date();
      await pause(2000);
      const later = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'later', namespace: 'default' } };
      await client.apply([later]);
      const manifest = (await manifestOf('in-place.yaml')).replace('2026-01-31T12:00:00Z', moment.toISOString());
      await writeFile(path.join(folder, 'in-place.yaml'), manifest);
      expect(await page.run('To a moment')).toMatch(/^NAME +.*TIME +.*CHANGES UNTIL/);
      await page.run('To a moment');
      await stage.waitFor(shop, 'Ready');
      await client.waitFor({ apiVersion: 'v1', kind: 'Node', name: 'backup-worker' }, 'Ready', {
        diagnose: () => worker?.machine.lastWords() ?? Promise.resolve(''),
      });
      expect(await client.read({ ...later, name: 'later', namespace: 'default' })).toBeUndefined();
      expect(differences(furniture, inFurniture(await dumpObjects(client)))).toEqual([]);
      expect(await workerRuns(client, worker)).toEqual(before);
      await cluster.kubectl(
        ['-n', 'tenants', 'wait', 'backuppolicy/shop', '--for=condition=Ready', kubectlTimeout(180)],
        { timeoutMs: 190_000 },
      );
    },
    10 * minutes,
  );

  test(
    'is lost with all of its data while it is written to',
    async () => {
      writer = new Writer();
      await pause(20_000 * slowness());
      lostAt = Date.now();
      await cluster.kubectl(['-n', 'tenants', 'delete', 'tcp', shop, kubectlTimeout(180)], { timeoutMs: 200_000 });
      await writer.end();
      expect(await etcdWitness(cluster)).toEqual(empty);
      expect(await cluster.client.read(stage.at('Secret', `${shop}-ca`))).toBeUndefined();
    },
    5 * minutes,
  );

  test(
    'is restored with its CA, endpoint and objects, and with every write older than ten seconds; its worker continues',
    async () => {
      const begun = performance.now();
      await page.run('Create it again');
      const { controlPlaneEndpoint } = await stage.waitFor(shop, 'Ready');
      const readyMs = performance.now() - begun;
      expect(controlPlaneEndpoint).toBe(endpoint);
      // The former kubeconfig is valid.
      await client.waitFor({ apiVersion: 'v1', kind: 'Node', name: 'backup-worker' }, 'Ready', {
        diagnose: () => worker?.machine.lastWords() ?? Promise.resolve(''),
      });
      expect(differences(furniture, inFurniture(await dumpObjects(client)))).toEqual([]);
      const there = new Set((await client.list('v1', 'ConfigMap', 'default')).map(({ metadata }) => metadata?.name));
      const old = [...writer.acknowledged].filter(([, at]) => at <= lostAt - mostLostMs);
      expect(old.length).toBeGreaterThan(50);
      expect(old.filter(([name]) => !there.has(name))).toEqual([]);
      const missing = [...writer.acknowledged].filter(([name, at]) => at <= lostAt && !there.has(name));
      const lostMs = Math.max(0, ...missing.map(([, at]) => lostAt - at));
      logStep(
        'restored',
        `Ready after ${(readyMs / 1000).toFixed(1)} s; the last ${(lostMs / 1000).toFixed(1)} s of ${writer.acknowledged.size} writes are lost`,
      );
      expect(await workerRuns(client, worker)).toEqual(before);
    },
    10 * minutes,
  );
});

describe('A Cluster with a worker', () => {
  const own = 'market';
  const workload = (): Workload => new Workload(cluster, own, 'tenants');
  const note = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'note' };

  /** The Cluster without an infrastructure, whose API server has a port that outlives it. */
  const clusterManifest = (): PlainObject => {
    const found = clusterManifests(own, 'tenants').find(({ kind }) => kind === 'Cluster');
    const { clusterNetwork, controlPlaneRef } = (found?.spec ?? {}) as Readonly<Record<string, object>>;
    return {
      ...{ apiVersion: capiVersion, kind: 'Cluster', metadata: { name: own, namespace: 'tenants' } },
      spec: { clusterNetwork: { ...clusterNetwork, apiServerPort: 31_578 }, controlPlaneRef },
    };
  };

  const identityOf = async (of: KubernetesClient): Promise<string | undefined> =>
    (await of.read({ apiVersion: 'v1', kind: 'Namespace', name: 'kube-system' }))?.metadata?.uid;

  test(
    'is backed up by its TenantControlPlane, and deleted with its CA and its data',
    async () => {
      await installClusterApi(cluster);
      const { spec, ...manifest } = controlPlaneManifest(own, 'tenants');
      await cluster.apply([clusterManifest(), { ...manifest, spec: { ...spec, kubelet: machineKubelet, addons: {} } }]);
      await workload().initialized();
      const { controlPlaneEndpoint = '' } = await stage.waitFor(own, 'Ready');
      const oldClient = await workload().tenant();
      const joined = await joinByHand(stage, { tenant: own, endpoint: controlPlaneEndpoint, worker: 'market-worker' });
      owned.defer(() => joined.stop());
      await oldClient.apply([
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: note.name, namespace: note.namespace },
          data: { of: own },
        },
      ]);
      await cluster.apply((await manifestOf('backup.yaml')).replaceAll(shop, own));
      const policy = stage.at('BackupPolicy', own, 'steward.butlerlabs.dev/v1alpha1');
      await cluster.waitFor(policy, 'Ready', { timeoutMs: 2 * minutes });
      lost = {
        ...{ endpoint: controlPlaneEndpoint, client: oldClient, worker: joined },
        ca: await stage.secret(`${own}-ca`),
        identity: await identityOf(oldClient),
        runs: await workerRuns(oldClient, joined),
      };
      const gone = (object: PlainObject | undefined): boolean => object === undefined;
      await cluster.client.delete(workload().address);
      await workload().waitFor(workload().address, gone, { what: 'its end' });
      expect(await cluster.client.read(stage.tenant(own))).toBeUndefined();
      await stage.gone(stage.at('Secret', `${own}-ca`));
      expect((await etcdWitness(cluster)).filter((line) => line.includes(own))).toEqual([]);
    },
    8 * minutes,
  );

  test(
    'starts again from its backup with its CA, endpoint and objects; its former kubeconfig is valid, and its worker goes on',
    async () => {
      const begun = performance.now();
      const since = new Date().toISOString();
      const shown = await manifestOf('restored.yaml');
      const here = shown
        .replace('replicas: 2', 'replicas: 1')
        .replace('serviceAddress: 192.0.2.10', 'serviceType: NodePort')
        .replace('addons: {coreDNS: {}, kubeProxy: {}}', `kubelet: ${JSON.stringify(machineKubelet)}`);
      await writeFile(path.join(folder, 'restored.yaml'), here);
      await cluster.apply([clusterManifest()]);
      await page.run('Start a Cluster from a backup');
      logStep('restored', `${((performance.now() - begun) / 1000).toFixed(1)} s`);
      await workload().initialized();
      const { controlPlaneEndpoint } = await stage.waitFor(own, 'Ready');
      logStep('initialized', `${((performance.now() - begun) / 1000).toFixed(1)} s`);
      expect(controlPlaneEndpoint).toBe(lost.endpoint);
      expect(await stage.secret(`${own}-ca`)).toEqual(lost.ca);
      expect((await lost.client.read(note))?.data).toEqual({ of: own });
      expect(await identityOf(lost.client)).toBe(lost.identity);
      // The node itself was Ready in the backup.
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'kube-node-lease' };
      const isRenewed = (object: PlainObject | undefined): boolean =>
        ((object?.spec ?? {}) as { readonly renewTime?: string }).renewTime?.localeCompare(since) === 1;
      const diagnose = (): Promise<string> => lost.worker.machine.lastWords();
      await lost.client.waitFor({ ...lease, name: 'market-worker' }, isRenewed, { what: 'a new lease', diagnose });
      expect(await workerRuns(lost.client, lost.worker)).toEqual(lost.runs);
    },
    8 * minutes,
  );
});
