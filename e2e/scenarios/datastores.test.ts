import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { ManagementCluster } from '../cluster/management-cluster.ts';
import type { PlainObject } from '../cluster/kubernetes-client.ts';
import { openHowTo } from '../framework/how-to-page.ts';
import type { HowToPage } from '../framework/how-to-page.ts';
import { podMemory } from '../framework/pod-memory.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { startStewardCluster } from '../framework/steward-cluster.ts';
import type { StewardCluster } from '../framework/steward-cluster.ts';
import { storeTrials } from '../framework/store-trials.ts';
import type { StoreTrial } from '../framework/store-trials.ts';
import { natsWitness } from '../framework/load/store-witness.ts';
import { tell } from '../framework/log.ts';
import { isCondition, TenantStage } from '../framework/tenant-stage.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { storeImageArchive } from '../tools/store-images.ts';
import { webPod } from '../framework/web-pod.ts';
import { minutes } from '../framework/minutes.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';

const owned = scenarioResources();
const namespace = 'steward-system';
const documented = path.join(import.meta.dirname, '..', 'fixtures', 'user-manifests');

let steward: StewardCluster | undefined;
let cluster: ManagementCluster;
let stage: TenantStage;
let manager: string;

beforeAll(async () => {
  // Its own: nobody has installed the DataStore `default` there.
  steward = owned.use(
    await startStewardCluster(owned.harness(`stores-${process.pid}`), tell, { dataStore: undefined }),
  );
  cluster = steward.cluster;
  stage = new TenantStage(cluster, 'tenants');
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } }]);
  manager = await managerRuns();
}, 20 * minutes);

const kubectl = async (args: readonly string[]): Promise<string> => (await cluster.kubectl(args)).stdout;

/** The manager's pod with how often it was started: the same as long as nothing was restarted. */
async function managerRuns(): Promise<string> {
  return runs(await cluster.client.list('v1', 'Pod', namespace, 'app.kubernetes.io/component=controller-manager'));
}

interface ContainerRuns {
  readonly name: string;
  readonly restartCount: number;
}

/** Pods with how often those of their containers were started that `counts` takes. kine is among the init containers. */
function runs(pods: readonly PlainObject[], counts: (container: string) => boolean = () => true): string {
  const lines = pods.map(({ metadata, status }) => {
    const all = [...((status?.containerStatuses ?? []) as []), ...((status?.initContainerStatuses ?? []) as [])];
    const counted = (all as readonly ContainerRuns[]).filter(({ name }) => counts(name));
    return [metadata?.uid, ...counted.map(({ name, restartCount }) => `${name} ${restartCount}`).toSorted()].join();
  });
  return lines.toSorted().join('\n');
}

/** The containers that know the store. The others end when they cannot renew their leases, which a restarted store may bring about. */
const knowsStore = (container: string): boolean => ['kube-apiserver', 'kine'].includes(container);

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** A tenant on a store; the first one of each takes workers in. */
function tenant(trial: Pick<StoreTrial, 'dataStore'>, name: string, takesWorkers = false): PlainObject {
  return stage.manifest(name, {
    dataStore: trial.dataStore,
    kubernetes: { version: 'v1.36.3', kubelet: takesWorkers ? machineKubelet : { cgroupfs: 'cgroupfs' } },
    ...(takesWorkers && {
      controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } },
      networkProfile: { serviceCidr: cluster.network.services, podCidr: cluster.network.pods },
    }),
  });
}

/** Writes and reads in a tenant; the API server may still be reconnecting. */
async function serves(name: string, key: string): Promise<void> {
  const client = await stage.open(name);
  const note = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: key, namespace: 'default' } };
  await client.apply([{ ...note, data: { of: name } }], 2 * minutes);
  const at = { apiVersion: 'v1', kind: 'ConfigMap', name: key, namespace: 'default' };
  expect((await client.read(at))?.data).toEqual({ of: name });
}

/** What pods hold in memory, for a person. */
async function memory(pods: readonly PlainObject[]): Promise<string> {
  const sums = await Promise.all(pods.map(({ metadata }) => podMemory(cluster, metadata?.uid ?? '')));
  return sums
    .map((sum) => [...sum].map(([command, mebibytes]) => `${command} ${mebibytes.toFixed(0)}`).join(', '))
    .join('; ');
}

/** Applies the DataStore as its users have written it. Its fields are the same, so its generation stays. */
async function takesTheirs(name: string): Promise<void> {
  const theirs = path.join(documented, `datastore-${name}.yaml`);
  const store = { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'DataStore', name };
  const before = await cluster.client.read(store);
  await kubectl(['apply', '-f', theirs]);
  expect((await cluster.client.read(store))?.metadata?.generation).toBe(before?.metadata?.generation);
}

async function loadStoreImage(store: StoreTrial['image']): Promise<void> {
  if (store === undefined) return;
  const progress = (line: string): void => {
    tell(store, line);
  };
  await cluster.loadImage((await storeImageArchive(store, { progress })).path);
}

describe.each(storeTrials)('The quick start of $store', (trial) => {
  const [first, second, third] = ['a', 'b', 'c'].map((letter) => `${trial.store}-${letter}`) as [
    string,
    string,
    string,
  ];
  const storeSelector = `app.kubernetes.io/name=${trial.statefulSet},app.kubernetes.io/component!=bootstrap`;
  const storePods = (): Promise<readonly PlainObject[]> => cluster.client.list('v1', 'Pod', namespace, storeSelector);
  let page: HowToPage;
  let empty: readonly string[];

  test(
    'creates a DataStore that becomes Ready, also with a manifest of the Go Steward',
    async () => {
      page = await openHowTo(cluster, trial.page);
      await loadStoreImage(trial.image);
      const began = performance.now();
      await page.run('Quick start');
      tell(trial.store, `is Ready after ${seconds(began)}`);
      if (trial.hasUsers) await takesTheirs(trial.dataStore);
      empty = await trial.witness(cluster);
      tell(trial.store, `holds in MiB while it is empty: ${await memory(await storePods())}`);
    },
    6 * minutes,
  );

  test(
    'serves two tenants, and a worker of one runs a pod',
    async () => {
      const began = performance.now();
      await cluster.apply([tenant(trial, first, true), tenant(trial, second)]);
      const [{ controlPlaneEndpoint = '' }] = (await Promise.all(
        [first, second].map((name) => stage.waitFor(name, 'Ready')),
      )) as [{ controlPlaneEndpoint?: string }, unknown];
      tell(trial.store, `serves two tenants after ${seconds(began)}`);
      await Promise.all([first, second].map((name) => serves(name, 'before')));
      const worker = await joinByHand(stage, {
        tenant: first,
        endpoint: controlPlaneEndpoint,
        worker: `${trial.store}-w`,
      });
      const client = await stage.open(first);
      await client.apply([webPod('web')]);
      await client.waitFor({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web' }, 'Ready', {
        timeoutMs: 2 * minutes,
        diagnose: () => worker.machine.lastWords(),
      });
      await worker.stop();
      tell(trial.store, `holds in MiB with two tenants: ${await memory(await storePods())}`);
      tell(first, `holds in MiB: ${await memory(await stage.pods(first))}`);
      expect(await trial.witness(cluster)).not.toEqual(empty);
    },
    6 * minutes,
  );

  test(
    'serves the same pods after the datastore was restarted',
    async () => {
      const pods = [await podUids(first), await podUids(second)];
      const before = runs(await storePods());
      const began = performance.now();
      await page.run('Restart it');
      tell(trial.store, `was restarted in ${seconds(began)}`);
      expect(runs(await storePods())).not.toBe(before);
      await Promise.all([first, second].map((name) => serves(name, 'after-restart')));
      tell(trial.store, `tenants write again ${seconds(began)} after the restart began`);
      for (const name of [first, second]) {
        const at = { apiVersion: 'v1', kind: 'ConfigMap', name: 'before', namespace: 'default' };
        // The Service may leave out an API server for a moment after its store was back.
        await (await stage.open(name)).waitFor(at, (object) => object?.data?.of === name);
        await stage.waitFor(name, 'Ready');
      }
      expect([await podUids(first), await podUids(second)]).toEqual(pods);
    },
    6 * minutes,
  );

  test(
    'uses new credentials of its administrator without a restart of manager or tenants',
    async () => {
      const tenants = async (): Promise<string> =>
        runs([...(await stage.pods(first)), ...(await stage.pods(second))], knowsStore);
      const before = await tenants();
      expect(before).toContain('kube-apiserver');
      await page.run(trial.rotation);
      // A tenant is made with the new credentials only.
      await cluster.apply([tenant(trial, third)]);
      await stage.waitFor(third, 'Ready');
      await Promise.all([first, second, third].map((name) => serves(name, 'after-rotation')));
      expect(await tenants()).toBe(before);
      expect(await managerRuns()).toBe(manager);
    },
    6 * minutes,
  );

  if (trial.insistsOnTls) {
    test(
      'can require TLS, and its tenants continue with it',
      async () => {
        const tenants = [first, second, third];
        const pods = (await Promise.all(tenants.map((name) => stage.pods(name)))).flat();
        const began = performance.now();
        await page.run('Require TLS');
        await Promise.all(pods.map(({ metadata }) => stage.gone(stage.at('Pod', metadata?.name ?? ''))));
        await Promise.all(tenants.map((name) => stage.waitFor(name, 'Ready')));
        tell(trial.store, `its tenants have TLS after ${seconds(began)}`);
        await page.run('Require TLS');
        tell(trial.store, `insists on TLS and is Ready after ${seconds(began)}`);
        await Promise.all(tenants.map((name) => serves(name, 'after-tls')));
        tell(trial.store, `tenants write over TLS after ${seconds(began)}`);
      },
      6 * minutes,
    );
  }

  test(
    'contains no data of deleted tenants, and is removed completely',
    async () => {
      const began = performance.now();
      await kubectl(['-n', 'tenants', 'delete', 'tcp', first, second, third, kubectlTimeout(120)]);
      tell(trial.store, `its tenants were deleted in ${seconds(began)}`);
      expect(await trial.witness(cluster)).toEqual(empty);
      await page.run('Remove it');
      const kinds =
        'statefulsets,pods,services,configmaps,secrets,jobs,cronjobs,persistentvolumeclaims,networkpolicies';
      const left = ['-n', namespace, 'get', kinds, '-l', `app.kubernetes.io/name=${trial.statefulSet}`, '-o', 'name'];
      await kubectl([
        '-n',
        namespace,
        'wait',
        'pods',
        '-l',
        `app.kubernetes.io/name=${trial.statefulSet}`,
        '--for=delete',
      ]);
      expect(await kubectl(left)).toBe('');
      // Servers of one's own are tried by tests beside the drivers, a login of NATS below.
      expect(page.untried.filter((heading) => !/^(Bring your own|One login)/.test(heading))).toEqual([]);
    },
    6 * minutes,
  );

  async function podUids(name: string): Promise<readonly (string | undefined)[]> {
    return (await stage.pods(name)).map(({ metadata }) => metadata?.uid);
  }
});

describe('The quick start of nats with one login', () => {
  const heading = 'One login for one tenant';
  const trial = { dataStore: 'nats-store' };
  let page: HowToPage;

  test(
    'creates a DataStore that becomes Ready, also with a manifest of the Go Steward',
    async () => {
      await loadStoreImage('nats');
      page = await openHowTo(cluster, 'datastore-nats');
      expect(page.untried.filter((found) => found === heading)).toHaveLength(3);
      await page.run(heading);
      await takesTheirs(trial.dataStore);
    },
    6 * minutes,
  );

  test(
    'serves one tenant and refuses a second one with the reason',
    async () => {
      await cluster.apply([tenant(trial, 'login-a')]);
      await stage.waitFor('login-a', 'Ready');
      await serves('login-a', 'before');
      await cluster.apply([tenant(trial, 'login-b')]);
      const { conditions = [] } = await stage.waitFor('login-b', isCondition('StoreReady', 'False', 'SingleTenant'));
      tell('login-b', conditions.find(({ type }) => type === 'StoreReady')?.message);
      await kubectl(['-n', 'tenants', 'delete', 'tcp', 'login-b', kubectlTimeout(60)]);
      await serves('login-a', 'after-refusal');
    },
    6 * minutes,
  );

  test(
    'uses a new password, with which its tenant continues',
    async () => {
      await page.run(heading);
      await serves('login-a', 'after-rotation');
      const at = { apiVersion: 'v1', kind: 'ConfigMap', name: 'before', namespace: 'default' };
      await (await stage.open('login-a')).waitFor(at, (object) => object?.data?.of === 'login-a');
      expect(await managerRuns()).toBe(manager);
    },
    6 * minutes,
  );

  test(
    'contains no data of its tenant when that is deleted',
    async () => {
      await kubectl(['-n', 'tenants', 'delete', 'tcp', 'login-a', kubectlTimeout(120)]);
      // That its author has had the login is remembered.
      expect(await natsWitness(cluster)).toEqual(['records of owners: 1']);
      await page.run(heading);
    },
    6 * minutes,
  );
});
