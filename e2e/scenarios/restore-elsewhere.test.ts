import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';

import { tenantObjects } from '../../api/names.ts';
import { KubernetesClient, parseManifests } from '../cluster/kubernetes-client.ts';
import type { ObjectAddress, PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { startSniRouter } from '../cluster/network/sni-router.ts';
import { attachWorker } from '../cluster/worker.ts';
import type { Worker } from '../cluster/worker.ts';
import type { ClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { startClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { capiVersion, generateWorkload } from '../framework/cluster-api/cluster-stage.ts';
import { differences, dumpObjects } from '../framework/dump-objects.ts';
import { pageFiles } from '../framework/flux/page-files.ts';
import { openHowTo } from '../framework/how-to-page.ts';
import type { HowToPage } from '../framework/how-to-page.ts';
import { managerIsAvailable } from '../framework/install-steward.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';
import { logStep } from '../framework/log.ts';
import { minutes } from '../framework/minutes.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { backedUpObjects } from '../framework/stores/backed-up-objects.ts';
import { startS3 } from '../framework/stores/s3-server.ts';
import { TenantStage } from '../framework/tenant-stage.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { workerRuns } from '../framework/workers/worker-runs.ts';
import { Workload } from '../framework/workload.ts';
import { crds, infrastructureVersion } from '../infrastructure/kinds.ts';
import { resolveTools } from '../tools/resolve.ts';

const owned = scenarioResources();
const root = path.join(import.meta.dirname, '../..');
const shop = 'shop';
const copy = 'shop-copy';
const node = 'elsewhere-worker';
const market = 'market';
const backupVersion = 'steward.butlerlabs.dev/v1alpha1';
/** The ports of the endpoints, on the nodes of both management clusters too. */
const ports = { shop: 31_579, market: 31_580 } as const;

/** A management cluster, and a person who works with it as the page says. */
interface Place {
  readonly cluster: ManagementCluster;
  readonly stage: TenantStage;
  readonly page: HowToPage;
  /** The page about the objects of a management cluster. */
  readonly objects: HowToPage;
}

/** What a tenant was before its management cluster was lost. */
interface Lost {
  readonly endpoint: string;
  readonly authorities: unknown;
  /** UID of the TenantBackup that was taken once. */
  readonly backupUID: string;
  readonly objects: ReadonlyMap<string, string>;
  readonly runs: unknown;
}

/** What a Cluster with a Machine was. */
interface LostCluster {
  readonly client: KubernetesClient;
  readonly worker: Worker;
  readonly kubeconfig: string;
  readonly authorities: unknown;
  readonly machines: readonly unknown[];
  /** UID of its node: one that joins again has another. */
  readonly node: string | undefined;
  readonly runs: unknown;
}

let formerStage: ClusterApiStage;
let otherStage: ClusterApiStage;
let former: Place;
let other: Place;
let worker: Worker;
/** With the kubeconfig of the first management cluster, all the time. */
let client: KubernetesClient;
let lost: Lost;
/** Of the Secret of the bucket. */
let s3: Readonly<Record<string, string>>;
let lostCluster: LostCluster;
/** Name of the TenantBackup of its policy. */
let backup: string;

beforeAll(async () => {
  const names = ['former', 'other'].map((which) => owned.harness(`elsewhere-${which}-${process.pid}`));
  const [first, second] = await Promise.all(
    names.map(async (name) => owned.use(await startClusterApiStage(name, logStep))),
  );
  if (first === undefined || second === undefined) throw new Error('two management clusters were started');
  // What survives the first one is on this host, beside both.
  const { secret } = await startS3(second.cluster.harness);
  [formerStage, otherStage] = [first, second];
  s3 = secret;
  former = await placeOf(first, secret);
  other = await placeOf(second, secret);
  // As clusterctl labels the kinds of a provider that it installs.
  const label = crds.map(({ metadata }) => metadata?.name ?? '');
  for (const { cluster } of [first, second])
    await cluster.kubectl(['label', 'crd', ...label, 'clusterctl.cluster.x-k8s.io=']);
}, 20 * minutes);

/** Puts the files of the pages where their reader works. */
async function placeOf(
  { cluster }: ClusterApiStage,
  secret: Readonly<Record<string, string>>,
  folder = path.join(cluster.harness.folder, 'reader'),
): Promise<Place> {
  await mkdir(folder);
  await symlink(path.join(root, 'config'), path.join(folder, 'config'));
  const files = await pageFiles('back-up');
  const bucket = parse(files['bucket.yaml'] ?? '') as PlainObject;
  const volume = 'persistentVolumeClaim: {claimName: backups}';
  const own: Readonly<Record<string, string>> = {
    ...(await pageFiles('back-up-the-management-cluster')),
    'bucket.yaml': stringify({ ...bucket, stringData: secret }),
    'backup.yaml': (files['backup.yaml'] ?? '').replace(volume, 'bucket: {secretName: bucket}'),
    'once.yaml': files['once.yaml'] ?? '',
    'elsewhere.yaml': files['elsewhere.yaml'] ?? '',
  };
  for (const [name, text] of Object.entries(own)) await writeFile(path.join(folder, name), text);
  const { clusterctl } = await resolveTools(['clusterctl']);
  // Look-ups of newer versions on the internet find none, at once.
  const variables = { CLUSTERCTL_DISABLE_VERSIONCHECK: 'true', GOPROXY: 'off' };
  const reader = { folder, programs: [clusterctl], variables };
  const page = await openHowTo(cluster, 'back-up', reader);
  const objects = await openHowTo(cluster, 'back-up-the-management-cluster', reader);
  return { cluster, stage: new TenantStage(cluster, 'tenants'), page, objects };
}

const kubernetes = { version: 'v1.36.3', kubelet: machineKubelet };
/** Of the tenant; they need not be those of a management cluster. */
const networks = { serviceCidr: '10.96.0.0/16', podCidr: '10.244.0.0/16' };

const web: ObjectAddress = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' };

/** What nobody but the test writes, of the tenant. */
async function furniture(of: KubernetesClient): Promise<ReadonlyMap<string, string>> {
  // The certificate of the CA is published into every namespace.
  return new Map(
    [...(await dumpObjects(of))].filter(
      ([name]) => name.includes(' furniture/') && !name.endsWith('/kube-root-ca.crt'),
    ),
  );
}

/** The Secrets by which workers and users know a tenant. */
async function authorities({ stage }: Place, tenant: string): Promise<Readonly<Record<string, unknown>>> {
  const { ca, frontProxyCa, serviceAccount } = tenantObjects(tenant);
  const names = [ca, frontProxyCa, serviceAccount];
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await stage.secret(name)] as const)));
}

/** The addresses of the tenants, which lead to a management cluster until they are disposed of. */
async function leadTo({ cluster }: Place): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  for (const port of Object.values(ports)) {
    const router = stack.use(await startSniRouter({ host: former.cluster.network.gateway, port }));
    // Who asks for an address names no server.
    router.route(new Map([['', { host: cluster.address, port }]]));
  }
  return stack;
}

/** Waits until a kubelet has reported since a moment: a node in a backup is as Ready as it was. */
async function reportsAgain(of: KubernetesClient, on: Worker, since: string): Promise<void> {
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'kube-node-lease', name: on.name };
  const isRenewed = (object: PlainObject | undefined): boolean =>
    ((object?.spec ?? {}) as { readonly renewTime?: string }).renewTime?.localeCompare(since) === 1;
  const diagnose = (): Promise<string> => on.machine.lastWords();
  await of.waitFor(lease, isRenewed, { timeoutMs: 2 * minutes, what: 'a new lease', diagnose });
  await of.waitFor({ apiVersion: 'v1', kind: 'Node', name: on.name }, 'Ready', { diagnose });
}

/** The Cluster as a template makes it, with an endpoint that outlives its management cluster. */
async function marketManifests(stage: ClusterApiStage): Promise<readonly PlainObject[]> {
  const text = await generateWorkload(stage.clusterApi, { name: market, namespace: 'tenants' });
  const { gateway } = stage.cluster.network;
  return parseManifests(text).map((manifest) => {
    const { kind, spec = {} } = manifest;
    if (kind === 'Cluster') {
      const clusterNetwork = { ...(spec.clusterNetwork as object), apiServerPort: ports.market };
      return { ...manifest, spec: { ...spec, clusterNetwork } };
    }
    if (kind !== 'StewardControlPlane') return manifest;
    return { ...manifest, spec: { ...spec, network: { ...(spec.network as object), serviceAddress: gateway } } };
  });
}

/** Garbage collection may be faster. */
function noneIfGone(error: unknown): void {
  if (!String(error).includes('not found')) throw error;
}

/** Its Machines as Cluster API knows them: what must not be created again. */
async function machinesOf(of: Workload): Promise<readonly unknown[]> {
  return (await of.machines()).map(({ metadata, spec, status }) => ({
    name: metadata?.name,
    providerID: spec?.providerID,
    node: status?.nodeRef,
  }));
}

/** As whom an API server knows a client; its refusal otherwise. */
async function whoIs(of: KubernetesClient): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  return of.connection
    .send<PlainObject>({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body })
    .then(
      ({ status }) => (status?.userInfo as { username?: string } | undefined)?.username ?? '',
      (error: unknown) => (error as Error).message,
    );
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: object; readonly name: string }];
  readonly users: readonly [{ readonly user: object; readonly name: string }];
}

/** A kubeconfig with the server of one and the user of another. */
function mixed(server: Kubeconfig, user: object): KubernetesClient {
  return new KubernetesClient(stringify({ ...server, users: [{ ...server.users[0], user }] }));
}

const marketPlace = (at: Place): Workload => new Workload(at.cluster, market, 'tenants');

const nodeUid = async (of: KubernetesClient, name: string): Promise<string | undefined> =>
  (await of.read({ apiVersion: 'v1', kind: 'Node', name }))?.metadata?.uid;

describe('A management cluster that is lost, with a control plane and a Cluster', () => {
  let address: AsyncDisposable;
  /** What was written before this moment must be saved before the loss. */
  let until: string;

  test(
    'has a worker and objects, and is backed up to a bucket as the page says',
    async () => {
      const { cluster, stage, page } = former;
      await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } }]);
      address = await leadTo(former);
      owned.defer(() => address[Symbol.asyncDispose]());
      await cluster.apply([
        stage.manifest(shop, {
          kubernetes,
          controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } },
          networkProfile: { ...networks, address: cluster.network.gateway, port: ports.shop },
          addons: { coreDNS: {}, kubeProxy: {} },
        }),
        ...(await marketManifests(formerStage)),
      ]);
      await page.run('Back up to a bucket');
      const { controlPlaneEndpoint: endpoint = '' } = await stage.waitFor(shop, 'Ready');
      expect(endpoint).toBe(`${cluster.network.gateway}:${ports.shop}`);
      client = await stage.open(shop);
      worker = await joinByHand(stage, { tenant: shop, endpoint, worker: node });
      await client.apply([...backedUpObjects]);
      await client.waitFor(web, 'Available', { timeoutMs: 3 * minutes });
      await page.run('The key');
      await page.run('Back up all the time');
      until = new Date().toISOString();
      await page.run('Back up once');
      const once = await cluster.client.read(stage.at('TenantBackup', 'shop-before-upgrade', backupVersion));
      lost = {
        endpoint,
        backupUID: once?.metadata?.uid ?? '',
        authorities: await authorities(former, shop),
        objects: await furniture(client),
        runs: await workerRuns(client, worker),
      };
      expect(lost.objects.size).toBeGreaterThan(200);
      expect(lost.runs).toEqual({ kubelets: [expect.any(Number)], runs: [[expect.any(String), [0]]] });
    },
    10 * minutes,
  );

  test(
    'has a Cluster with a Machine, which is backed up too, and its objects are saved as the page says',
    async () => {
      const { cluster, objects, stage } = former;
      const found = marketPlace(former);
      await found.initialized(3 * minutes);
      const [name = ''] = await found.readyNodes(1, 4 * minutes);
      const [machine] = await found.machines();
      const isRunning = (object: PlainObject | undefined): boolean => object?.status?.phase === 'Running';
      await found.waitFor(found.at(capiVersion, 'Machine', machine?.metadata?.name ?? ''), isRunning, {
        what: 'Running',
      });
      const [policy] = parseManifests((await pageFiles('back-up'))['backup.yaml'] ?? '');
      const storage = { bucket: { secretName: 'bucket' } };
      const spec = { ...policy?.spec, tenantControlPlaneName: market, storage };
      await cluster.apply([{ ...policy, metadata: { name: market, namespace: 'tenants' }, spec }]);
      const tenant = await found.tenant();
      const joined = await attachWorker(cluster.harness, name);
      const ready = stage.at('BackupPolicy', market, backupVersion);
      await cluster.waitFor(ready, 'Ready', { timeoutMs: 2 * minutes });
      lostCluster = {
        ...{ client: tenant, worker: joined, kubeconfig: await found.kubeconfig() },
        authorities: await authorities(former, market),
        machines: await machinesOf(found),
        node: await nodeUid(tenant, name),
        runs: await workerRuns(tenant, joined),
      };
      expect(lostCluster.machines).toEqual([
        { name, providerID: expect.stringMatching(/^netns:/) as unknown, node: { name } },
      ]);
      await objects.run('Save');
      await objects.run('Save Clusters');
      backup = await savedUntil(until);
    },
    10 * minutes,
  );

  /** Waits until the changes up to a moment are in the bucket, and returns the name of the newest backup of the policy. */
  async function savedUntil(moment: string): Promise<string> {
    const { cluster, stage } = former;
    const isSaved = (object: PlainObject | undefined): boolean => {
      const saved = object?.status?.recoverableUntil;
      return typeof saved === 'string' && saved > moment;
    };
    // A process reports that once a minute.
    const options = { timeoutMs: 90_000, what: `changes until ${moment}` };
    await cluster.waitFor(stage.at('BackupPolicy', shop, backupVersion), isSaved, options);
    const backups = await cluster.client.list(backupVersion, 'TenantBackup', 'tenants');
    const ofPolicy = backups.filter(({ spec }) => spec?.time !== undefined && spec.policyName === shop);
    return (
      ofPolicy
        .map(({ metadata }) => metadata?.name ?? '')
        .toSorted()
        .at(-1) ?? ''
    );
  }

  test(
    'is restored on another one as the pages say, with its CAs, keys, endpoint and objects',
    async () => {
      const { cluster } = former;
      cluster.harness.detach();
      await address[Symbol.asyncDispose]();
      await cluster.harness.removeMachine(cluster.machine);
      logStep('lost', cluster.name);
      const begun = performance.now();
      const [from = '', to = ''] = [former, other].map((place) => path.join(place.cluster.harness.folder, 'reader'));
      for (const name of ['backup.key', 'saved'])
        await cp(path.join(from, name), path.join(to, name), { recursive: true });
      const heading = 'On another management cluster';
      await other.page.run(heading);
      await other.objects.run('Only the backups are left');
      await other.page.run(heading);
      logStep('restored', `${((performance.now() - begun) / 1000).toFixed(1)} s`);
      address = await leadTo(other);
      const { controlPlaneEndpoint } = await other.stage.waitFor(shop, 'Ready');
      expect(controlPlaneEndpoint).toBe(lost.endpoint);
      expect(await authorities(other, shop)).toEqual(lost.authorities);
      // The former kubeconfig is valid.
      expect(await whoIs(client)).toBe('kubernetes-admin');
      expect(differences(lost.objects, await furniture(client))).toEqual([]);
    },
    8 * minutes,
  );

  test(
    'has its worker there, which has not joined again: the same kubelet and pod, and further ones at once',
    async () => {
      await reportsAgain(client, worker, new Date().toISOString());
      expect(await workerRuns(client, worker)).toEqual(lost.runs);
      await client.merge(web, { spec: { replicas: 2 } });
      const isScaled = (object: PlainObject | undefined): boolean => object?.status?.readyReplicas === 2;
      const diagnose = (): Promise<string> => worker.machine.lastWords();
      await client.waitFor(web, isScaled, { timeoutMs: 2 * minutes, what: 'a second pod', diagnose });
    },
    5 * minutes,
  );

  test(
    'has its Cluster again as the page says, with the same kubeconfig, CAs, Machine and node',
    async () => {
      const begun = performance.now();
      const { objects } = other;
      await objects.run('Restore Clusters from their backups');
      logStep('restored', `${((performance.now() - begun) / 1000).toFixed(1)} s`);
      const found = marketPlace(other);
      await found.waitFor(found.at('controlplane.cluster.x-k8s.io/v1alpha2', 'StewardControlPlane'), 'Available', {
        timeoutMs: 3 * minutes,
      });
      await found.initialized();
      const { client: tenant, worker: joined } = lostCluster;
      await reportsAgain(tenant, joined, new Date().toISOString());
      await found.waitFor(found.address, 'Available', { timeoutMs: 3 * minutes });
      logStep('available', `${((performance.now() - begun) / 1000).toFixed(1)} s`);
      expect(await authorities(other, market)).toEqual(lostCluster.authorities);
      const serverOf = (text: string): unknown => (parse(text) as Kubeconfig).clusters[0].cluster;
      expect(serverOf(await found.kubeconfig())).toEqual(serverOf(lostCluster.kubeconfig));
      expect(await whoIs(await found.tenant())).toBe('kubernetes-admin');
      expect(await machinesOf(found)).toEqual(lostCluster.machines);
      const machines = await other.cluster.client.list(infrastructureVersion, 'NetnsMachine', 'tenants');
      expect(machines.map(({ metadata }) => metadata?.name)).toEqual([joined.name]);
      expect((await tenant.list('v1', 'Node')).map(({ metadata }) => metadata?.uid)).toEqual([lostCluster.node]);
      expect(await workerRuns(tenant, joined)).toEqual(lostCluster.runs);
    },
    10 * minutes,
  );

  test(
    'lets objects that come back with other UIDs adopt the data that is left, as the page says, with the same workers',
    async () => {
      const { cluster, stage } = other;
      const { client: tenant, worker: joined } = lostCluster;
      const folder = path.join(cluster.harness.folder, 'again');
      const { objects } = await placeOf(otherStage, s3, folder);
      for (const heading of ['Save', 'Save Clusters']) await objects.run(heading);
      const before = { runs: await workerRuns(client, worker), objects: await furniture(client) };
      const uidOf = async (name: string): Promise<string | undefined> =>
        (await cluster.client.read(stage.tenant(name)))?.metadata?.uid;
      const first: readonly (readonly [string, string | undefined])[] = [
        [shop, await uidOf(shop)],
        [market, await uidOf(market)],
      ];
      await loseObjects();
      logStep('lost', 'all objects of the control planes, but not the data');
      const begun = performance.now();
      for (const heading of ['The datastore is left', 'Restore Clusters with their data', 'The datastore is left'])
        await objects.run(heading);
      logStep('adopted', `${((performance.now() - begun) / 1000).toFixed(1)} s`);
      for (const [name, uid] of first) {
        const again = await cluster.client.read(stage.tenant(name));
        expect(again?.metadata?.uid).not.toBe(uid);
        expect(again?.status?.storage).toMatchObject({ owner: uid });
      }
      expect(await cluster.client.list(backupVersion, 'RetainedControlPlane')).toEqual([]);
      expect(await authorities(other, shop)).toEqual(lost.authorities);
      expect(await authorities(other, market)).toEqual(lostCluster.authorities);
      const since = new Date().toISOString();
      await reportsAgain(client, worker, since);
      await reportsAgain(tenant, joined, since);
      expect(differences(before.objects, await furniture(client))).toEqual([]);
      expect(await workerRuns(client, worker)).toEqual(before.runs);
      const found = marketPlace(other);
      await found.waitFor(found.address, 'Available', { timeoutMs: 3 * minutes });
      expect(await machinesOf(found)).toEqual(lostCluster.machines);
      expect((await tenant.list('v1', 'Node')).map(({ metadata }) => metadata?.uid)).toEqual([lostCluster.node]);
      expect(await workerRuns(tenant, joined)).toEqual(lostCluster.runs);
    },
    8 * minutes,
  );

  /** Nothing is left of the control planes and of what belongs to them, but their data: nobody was asked to remove that. */
  async function loseObjects(): Promise<void> {
    const { cluster, stage } = other;
    const kubectl = (...args: string[]): Promise<unknown> => cluster.kubectl(['-n', 'tenants', ...args]);
    // While they are paused, no controller does anything about their deletion, and none gives them a finalizer after it.
    await cluster.client.merge(marketPlace(other).address, { spec: { paused: true } });
    const marks = { 'steward.butlerlabs.dev/paused': '', 'steward.butlerlabs.dev/delete-anyway': 'true' };
    for (const name of [shop, market]) {
      await cluster.client.merge(stage.tenant(name), { metadata: { annotations: marks } });
      await stage.waitFor(name, 'Paused');
    }
    await kubectl('delete', 'tcp', '--all', '--wait=false');
    // A StewardControlPlane would delete its data with it.
    const manager = ['-n', 'steward-system', 'scale', 'deployment/steward-controller-manager'];
    await cluster.kubectl([...manager, '--replicas=0']);
    const ended = ['pods', '-l', 'control-plane=controller-manager', '--for=delete', kubectlTimeout(60)];
    await cluster.kubectl(['-n', 'steward-system', 'wait', ...ended], { timeoutMs: 70_000 });
    const kinds = [
      ...['stewardcontrolplanes', 'tenantrestores', 'clusters', 'machinedeployments', 'machinesets', 'machines'],
      ...['kubeadmconfigs', 'kubeadmconfigtemplates', 'netnsclusters', 'netnsmachines', 'netnsmachinetemplates'],
    ];
    for (const kind of kinds) await kubectl('delete', kind, '--all', '--wait=false');
    const { stdout } = await cluster.kubectl(['-n', 'tenants', 'get', ['tcp', ...kinds].join(','), '-o', 'name']);
    for (const name of stdout.split('\n').filter((line) => line !== ''))
      await kubectl('patch', name, '--type=merge', '-p', '{"metadata": {"finalizers": null}}').catch(noneIfGone);
    for (const name of [shop, market]) {
      await stage.gone(stage.at('Secret', tenantObjects(name).ca));
      await stage.gone(stage.at('Service', name));
      const pods = ['pods', '-l', `steward.butlerlabs.dev/name=${name}`, '--for=delete', kubectlTimeout(60)];
      await cluster.kubectl(['-n', 'tenants', 'wait', ...pods], { timeoutMs: 70_000 });
    }
    await cluster.kubectl([...manager, '--replicas=1']);
    await managerIsAvailable(cluster);
  }

  test(
    'is backed up there again, beside the backups of the first one',
    async () => {
      const { cluster, objects, page } = other;
      await page.run('On another management cluster');
      await objects.run('Afterwards');
      const backups = await cluster.client.list(backupVersion, 'TenantBackup', 'tenants');
      const names = backups.map(({ metadata }) => metadata?.name);
      expect(names).toContain(backup);
      expect(names.length).toBeGreaterThan(2);
    },
    5 * minutes,
  );
});

describe('A clone beside its original', () => {
  /** As the page shows it, with the networks of the original, from the backup that was taken once. */
  async function writeCopy(): Promise<void> {
    const files = await pageFiles('back-up');
    const elsewhere = parse(files['elsewhere.yaml'] ?? '') as PlainObject;
    const { repository } = elsewhere.spec?.source as { readonly repository: object };
    const more: Readonly<Record<string, object>> = {
      TenantControlPlane: { kubernetes, networkProfile: networks },
      TenantRestore: { source: { repository: { ...repository, backupUID: lost.backupUID } } },
    };
    const shown = parseManifests(files['copy.yaml'] ?? '').map((one) =>
      stringify({ ...one, spec: { ...one.spec, ...more[one.kind ?? ''] } }),
    );
    await writeFile(path.join(other.cluster.harness.folder, 'reader', 'copy.yaml'), shown.join('---\n'));
  }

  test(
    'is made from a backup that was taken once, with CAs and keys of its own: each refuses the kubeconfigs and tokens of the other',
    async () => {
      const { stage, page } = other;
      await writeCopy();
      await page.run('A copy beside the original');
      await stage.waitFor(copy, 'Ready');
      const clone = await stage.open(copy);
      expect(differences(await furniture(client), await furniture(clone))).toEqual([]);
      const own = await authorities(other, copy);
      for (const [name, secret] of Object.entries(await authorities(other, shop)))
        expect(own[name.replace(shop, copy)]).not.toEqual(secret);

      const [ofShop, ofCopy] = await Promise.all(
        [shop, copy].map(async (tenant) => parse(await stage.kubeconfig(tenant)) as Kubeconfig),
      );
      if (ofShop === undefined || ofCopy === undefined) throw new Error('both have a kubeconfig');
      const tokenOf = async (tenant: KubernetesClient): Promise<string> => {
        const { status } = await tenant.connection.send<PlainObject>({
          method: 'POST',
          path: '/api/v1/namespaces/furniture/serviceaccounts/default/token',
          body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
        });
        return String(status?.token);
      };
      const [shopToken, copyToken] = await Promise.all([client, clone].map(tokenOf));
      const account = 'system:serviceaccount:furniture:default';
      expect({
        'an administrator of the original there': await whoIs(mixed(ofShop, ofShop.users[0].user)),
        'an administrator of the clone there': await whoIs(mixed(ofCopy, ofCopy.users[0].user)),
        'a token of the original there': await whoIs(mixed(ofShop, { token: shopToken })),
        'a token of the clone there': await whoIs(mixed(ofCopy, { token: copyToken })),
      }).toEqual({
        'an administrator of the original there': 'kubernetes-admin',
        'an administrator of the clone there': 'kubernetes-admin',
        'a token of the original there': account,
        'a token of the clone there': account,
      });
      expect({
        'an administrator of the original in the clone': await whoIs(mixed(ofCopy, ofShop.users[0].user)),
        'an administrator of the clone in the original': await whoIs(mixed(ofShop, ofCopy.users[0].user)),
        'a token of the original in the clone': await whoIs(mixed(ofCopy, { token: shopToken })),
        'a token of the clone in the original': await whoIs(mixed(ofShop, { token: copyToken })),
      }).toEqual({
        'an administrator of the original in the clone': '401 Unauthorized',
        'an administrator of the clone in the original': '401 Unauthorized',
        'a token of the original in the clone': '401 Unauthorized',
        'a token of the clone in the original': '401 Unauthorized',
      });
    },
    8 * minutes,
  );

  test('publishes its own CA and address to pods and to those who join', async () => {
    const { stage } = other;
    const clone = await stage.open(copy);
    const ca = (await stage.secret(`${copy}-ca`))['ca.crt'];
    const published = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'furniture', name: 'kube-root-ca.crt' };
    await clone.waitFor(published, (object) => object?.data?.['ca.crt'] === ca, { what: 'the CA of the clone' });
    const info = await clone.read({ ...published, namespace: 'kube-public', name: 'cluster-info' });
    const { clusters } = parse(info?.data?.kubeconfig ?? '') as Kubeconfig;
    const { controlPlaneEndpoint = '' } = await stage.waitFor(copy, 'Ready');
    expect(clusters[0].cluster).toEqual({
      'certificate-authority-data': Buffer.from(ca ?? '').toString('base64'),
      server: `https://${controlPlaneEndpoint}`,
    });
  });
});
