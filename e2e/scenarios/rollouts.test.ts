import { setTimeout as pause } from 'node:timers/promises';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { KubernetesClient } from '../cluster/kubernetes-client.ts';
import type { ObjectAddress, PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import type { Worker } from '../cluster/worker.ts';
import { bareRollout, isRolledOut } from '../framework/load/bare-rollout.ts';
import { expectUnharmed } from '../framework/load/expect-unharmed.ts';
import { openHowTo } from '../framework/how-to-page.ts';
import { slowness } from '../cluster/slowness.ts';
import { addOldKubelet } from '../framework/workers/old-kubelet.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { joinSecondNode } from '../framework/workers/second-node.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import type { StewardCluster } from '../framework/steward-cluster.ts';
import { logStep } from '../framework/log.ts';
import { conditionOf, isCondition, TenantStage } from '../framework/tenant-stage.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { underLoad } from '../framework/load/under-load.ts';
import type { Seen } from '../framework/load/under-load.ts';
import { workerRuns } from '../framework/workers/worker-runs.ts';
import { imageArchives } from '../tools/images.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { minutes } from '../framework/minutes.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';

const owned = scenarioResources();
const shop = 'shop';
const [oldest, older, newer] = ['v1.34.4', 'v1.35.4', 'v1.36.3'] as const;

let steward: StewardCluster | undefined;
let cluster: ManagementCluster;
let stage: TenantStage;
let client: KubernetesClient;
let worker: Worker | undefined;
let node: Worker | undefined;
/** A tenant that is upgraded as the page says, under the page's name for it; what the page's commands print. */
let reader: TenantStage;
let upgraded: Promise<string> | undefined;
const small = 'tenant-00';
/** A patch of the newer minor that nobody has. */
const missing = 'v1.36.99';
/** Works with the older minor, and is too old for the newer. */
const tooOld = 'v1.32.9';

beforeAll(async () => {
  steward = owned.use(await shareStewardCluster(owned.harness(`rollouts-${process.pid}`), logStep));
  cluster = steward.cluster;
  owned.defer(async () => worker?.stop());
  stage = new TenantStage(cluster, 'tenants');
  reader = new TenantStage(cluster, 'default');
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } }]);
  node = await joinSecondNode(cluster, 'second');
  const programs = /kube-(apiserver|controller-manager|scheduler):/;
  for (const { name, path } of [...(await archivesOf(oldest)), ...(await archivesOf(older))]) {
    if (!programs.test(name)) continue;
    await Promise.all([cluster.machine.importImage(path), node.machine.importImage(path)]);
  }
}, 45 * minutes);

function archivesOf(kubernetes: string): ReturnType<typeof imageArchives> {
  return imageArchives({
    kubernetes,
    progress: (line) => {
      logStep('images', line);
    },
  });
}

const deployment = (): ObjectAddress => stage.at('Deployment', shop, 'apps/v1');
const inShop = (apiVersion: string, kind: string, name: string, namespace = 'kube-system'): ObjectAddress => ({
  apiVersion,
  kind,
  namespace,
  name,
});
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const change = (spec: Readonly<Record<string, unknown>>): Promise<void> =>
  cluster.client.merge(stage.tenant(shop), { spec });

/** Uses the control plane through its Service while `work` is done, prints what its users saw, and returns it. */
async function used(title: string, work: () => Promise<void>, onceMoreAfterMs?: number): Promise<Seen> {
  return underLoad(
    { title, kubeconfig: await stage.kubeconfig(shop), floor: stage.cluster.client, onceMoreAfterMs },
    work,
  );
}

async function serviceSelector(): Promise<unknown> {
  return (await cluster.client.read(stage.at('Service', shop)))?.spec?.selector;
}

/** Where each of the control plane's pods runs. */
async function nodesOfPods(): Promise<readonly string[]> {
  const pods = await stage.pods(shop);
  return pods.map(({ spec }) => String(spec?.nodeName)).toSorted();
}

/** Waits until the Deployment consists of so many new pods, and no other pod of the control plane is left. */
async function settled(replicas: number): Promise<void> {
  const diagnose = (): Promise<string> => stage.diagnose(shop);
  await cluster.waitFor(deployment(), (object) => isRolledOut(object) && object?.spec?.replicas === replicas, {
    timeoutMs: 2 * minutes,
    what: `${replicas} available pods`,
    diagnose,
  });
  const deadline = deadlineIn(minutes);
  while ((await stage.pods(shop)).length !== replicas) {
    if (Date.now() > deadline) throw new Error(`Old pods of ${shop} do not end.\n${await diagnose()}`);
    await pause(200);
  }
}

function versionOf(object: PlainObject | undefined): { readonly version?: string; readonly status?: string } {
  const { version = {} } = (object?.status?.kubernetesResources ?? {}) as {
    readonly version?: { readonly version?: string; readonly status?: string };
  };
  return version;
}

const isReadyAt =
  (version: string) =>
  (object: PlainObject | undefined): boolean => {
    const seen = versionOf(object);
    return seen.version === version && seen.status === 'Ready';
  };

/** Waits until a tenant says that it stays at the older minor because of a node, and sees that it does. */
async function held(of: TenantStage, tenant: string): Promise<void> {
  await of.waitFor(tenant, isCondition('UpgradeAllowed', 'False', 'KubeletsTooOld'));
  const seen = await cluster.client.read(of.tenant(tenant));
  const { message = '' } = conditionOf(seen, 'UpgradeAllowed') ?? {};
  expect(message).toContain(`upgrade from ${older} to ${newer} is held: 1 node`);
  expect(message).toContain(`antique (${tooOld})`);
  expect(conditionOf(seen, 'Ready')).toMatchObject({ status: 'True', reason: 'UpgradeHeld' });
  expect(versionOf(seen)).toEqual(expect.objectContaining({ version: older, status: 'Ready' }));
  expect(JSON.stringify((await of.pods(tenant)).map(({ spec }) => spec))).not.toContain(newer);
}

describe('A control plane on two nodes', () => {
  test(
    'is Ready at the oldest of three minors with a pod on each node',
    async () => {
      await cluster.apply([
        reader.manifest(small, { kubernetes: { version: older, kubelet: machineKubelet } }),
        stage.manifest(shop, {
          controlPlane: { deployment: { replicas: 2 }, service: { serviceType: 'NodePort' } },
          kubernetes: { version: oldest, kubelet: machineKubelet },
          networkProfile: { serviceCidr: cluster.network.services, podCidr: cluster.network.pods },
          addons: { coreDNS: {}, kubeProxy: {} },
        }),
      ]);
      await stage.waitFor(shop, isReadyAt(oldest));
      await cluster.waitFor(deployment(), isRolledOut);
      expect(await nodesOfPods()).toEqual(['management', 'second']);
      client = await stage.open(shop);
    },
    3 * minutes,
  );

  test(
    'holds an upgrade to the next minor for a kubelet that is too old for it, and reports that',
    async () => {
      await reader.waitFor(small, isReadyAt(older));
      const tenant = await reader.open(small);
      const antique = await addOldKubelet(tenant, tooOld);
      upgraded = (await openHowTo(cluster, 'upgrade-a-tenant')).run('Upgrade a tenant');
      // Its success is checked after everything else that takes time.
      upgraded.catch(() => undefined);
      await held(reader, small);
      await tenant.delete(antique);
    },
    3 * minutes,
  );

  test(
    'is joined by a worker of the oldest minor',
    async () => {
      const { controlPlaneEndpoint = '' } = await stage.waitFor(shop, isReadyAt(oldest));
      const joined = await joinByHand(stage, {
        tenant: shop,
        endpoint: controlPlaneEndpoint,
        worker: 'shop-worker',
        kubernetes: oldest,
      });
      worker = joined;
      for (const { name, path } of [...(await archivesOf(older)), ...(await archivesOf(newer))]) {
        if (/(kube-proxy|coredns):/.test(name)) await joined.machine.importImage(path);
      }
      await client.waitFor(inShop('apps/v1', 'Deployment', 'coredns'), 'Available', {
        timeoutMs: 2 * minutes,
        diagnose: () => joined.machine.lastWords(),
      });
    },
    8 * minutes,
  );

  test(
    'is upgraded to the next minor without a failed call, with its kube-proxy',
    async () => {
      const before = await workerRuns(client, worker);
      const seen = await used(`${oldest} → ${older}`, async () => {
        await change({ kubernetes: { version: older } });
        await stage.waitFor(shop, isReadyAt(older), { timeoutMs: 3 * minutes });
        await settled(2);
      });
      expectUnharmed(seen);
      expect(Object.keys(seen.servers.answers)).toEqual([oldest, older]);
      expect(seen.servers.newcomersAnsweredByOld).toBe(0);
      await client.waitFor(
        inShop('apps/v1', 'DaemonSet', 'kube-proxy'),
        (object) =>
          JSON.stringify(object?.spec).includes(`kube-proxy:${older}`) && object?.status?.updatedNumberScheduled === 1,
      );
      expect(await workerRuns(client, worker)).toEqual(before);
    },
    5 * minutes,
  );

  test(
    'refuses a version that cannot be reached, and names the possible ones',
    async () => {
      const manifest = (version: string): PlainObject =>
        stage.manifest(shop, {
          controlPlane: { deployment: { replicas: 2 }, service: { serviceType: 'NodePort' } },
          kubernetes: { version, kubelet: machineKubelet },
          networkProfile: { serviceCidr: cluster.network.services, podCidr: cluster.network.pods },
          addons: { coreDNS: {}, kubeProxy: {} },
        });
      expect(await stage.refusal(manifest(newer))).toBeUndefined();
      for (const version of [oldest, 'v1.37.0']) {
        const refusal = await stage.refusal(manifest(version));
        expect(refusal).toContain('spec.kubernetes.version');
        expect(refusal).toContain('1.36');
      }
    },
    minutes,
  );

  test(
    'continues to the next minor by itself when the kubelet is gone',
    async () => {
      await upgraded;
      const there = await reader.waitFor(small, isReadyAt(newer));
      expect(there.conditions).toContainEqual(expect.objectContaining({ type: 'UpgradeAllowed', status: 'True' }));
      await cluster.kubectl(['delete', 'tcp', small, kubectlTimeout(120)], { timeoutMs: 130_000 });
    },
    4 * minutes,
  );

  test(
    'is upgraded to the next minor without a failed call if its author overrides a kubelet check, and its worker is not affected',
    async () => {
      const antique = await addOldKubelet(client, tooOld);
      await change({ kubernetes: { version: newer } });
      await held(stage, shop);
      const before = await workerRuns(client, worker);
      let bareMs = 0;
      let rolledOutMs = 0;
      let readyMs = 0;
      let goneMs = 0;
      const seen = await used(`${older} → ${newer}`, async () => {
        bareMs = await bareRollout(stage, shop, (image) => image.replace(older, newer));
        const began = performance.now();
        await cluster.client.merge(stage.tenant(shop), {
          metadata: { annotations: { 'steward.butlerlabs.dev/upgrade-anyway': newer } },
        });
        const rolledOut = cluster
          .waitFor(deployment(), (object) => isRolledOut(object) && JSON.stringify(object?.spec).includes(newer), {
            timeoutMs: 3 * minutes,
            diagnose: () => stage.diagnose(shop),
          })
          .then(() => {
            rolledOutMs = performance.now() - began;
          });
        await stage.waitFor(shop, isReadyAt(newer), { timeoutMs: 3 * minutes });
        readyMs = performance.now() - began;
        await rolledOut;
        await settled(2);
        goneMs = performance.now() - began;
      });
      logStep(
        'rollout',
        `${seconds(rolledOutMs)} until only new pods are left, Ready at ${newer} after ${seconds(readyMs)}, the last old pod gone after ${seconds(goneMs)}; a bare Deployment of the same pods: ${seconds(bareMs)}, ratio ${(rolledOutMs / bareMs).toFixed(2)}`,
      );
      expectUnharmed(seen);
      expect(Object.keys(seen.servers.answers)).toEqual([older, newer]);
      expect(seen.servers.newcomersAnsweredByOld).toBe(0);
      expect(await workerRuns(client, worker)).toEqual(before);
      await client.waitFor({ apiVersion: 'v1', kind: 'Node', name: 'shop-worker' }, 'Ready');
      await client.delete(antique);
    },
    10 * minutes,
  );

  test(
    'returns by itself from a version without an image, without a failed call',
    async () => {
      const before = (await stage.pods(shop)).map(({ metadata }) => metadata?.uid).toSorted();
      const isReturned = isCondition('UpgradeAllowed', 'False', 'RolloutFailed');
      let tookMs = 0;
      const seen = await used('a missing image', async () => {
        const began = performance.now();
        await change({ kubernetes: { version: missing } });
        await stage.waitFor(shop, isReturned, { timeoutMs: 3 * minutes });
        await settled(2);
        tookMs = performance.now() - began;
      });
      const found = await cluster.client.read(stage.tenant(shop));
      const said = conditionOf(found, 'UpgradeAllowed')?.message ?? '';
      logStep('a missing image', `the old pods alone are left after ${seconds(tookMs)}: ${said}`);
      expect(said).toMatch(/from v1\.36\.3 to v1\.36\.99 was rolled back to the previous pods.*Image/s);
      expect(conditionOf(found, 'Ready')).toMatchObject({ status: 'True', reason: 'RolloutFailed' });
      expect(versionOf(found)).toEqual(expect.objectContaining({ version: newer, status: 'Ready' }));
      expectUnharmed(seen);
      expect(Object.keys(seen.servers.answers)).toEqual([newer]);
      expect(tookMs).toBeLessThan(90_000 * slowness());
      await change({ kubernetes: { version: newer } });
      await stage.waitFor(shop, isCondition('UpgradeAllowed', 'True'));
      await settled(2);
      expect((await stage.pods(shop)).map(({ metadata }) => metadata?.uid).toSorted()).toEqual(before);
      expect(await serviceSelector()).toEqual({ 'steward.butlerlabs.dev/name': shop });
    },
    5 * minutes,
  );

  test(
    'has the documents and add-ons of the new minor, with workers of the first minor and the last',
    async () => {
      const configuration = await client.read(inShop('v1', 'ConfigMap', 'kubeadm-config'));
      expect(configuration?.data?.ClusterConfiguration).toContain(`kubernetesVersion: ${newer}`);
      const proxy = inShop('apps/v1', 'DaemonSet', 'kube-proxy');
      await client.waitFor(
        proxy,
        (object) =>
          JSON.stringify(object?.spec).includes(`kube-proxy:${newer}`) && object?.status?.updatedNumberScheduled === 1,
      );
      await client.waitFor(inShop('apps/v1', 'Deployment', 'coredns'), 'Available', { timeoutMs: 2 * minutes });
      const { controlPlaneEndpoint = '' } = await stage.waitFor(shop, 'Ready');
      const young = await joinByHand(stage, {
        tenant: shop,
        endpoint: controlPlaneEndpoint,
        worker: 'shop-young',
        kubernetes: newer,
      });
      const nodes = await client.list('v1', 'Node');
      const versions = nodes.map(({ status }) => (status?.nodeInfo as { kubeletVersion: string }).kubeletVersion);
      expect(versions.toSorted()).toEqual([oldest, newer]);
      await young.stop();
      await client.delete({ apiVersion: 'v1', kind: 'Node', name: 'shop-young' });
    },
    4 * minutes,
  );

  test(
    'restarts like a Deployment, without a failed call',
    async () => {
      const before = (await stage.pods(shop)).map(({ metadata }) => metadata?.uid);
      const seen = await used('restart', async () => {
        await cluster.kubectl(['-n', 'tenants', 'rollout', 'restart', `deployment/${shop}`]);
        await settled(2);
        await stage.waitFor(shop, 'Ready');
      });
      const after = (await stage.pods(shop)).map(({ metadata }) => metadata?.uid);
      expect(after.filter((uid) => before.includes(uid))).toEqual([]);
      expectUnharmed(seen);
    },
    5 * minutes,
  );

  test(
    'loses an API server without a call that fails twice',
    async () => {
      const seen = await used(
        'an API server killed',
        async () => {
          if (node === undefined) throw new Error('there is no second node');
          expect(await node.machine.signalProcesses('kube-apiserver', 'SIGKILL')).toBe(1);
          await cluster.waitFor(deployment(), (object) => !isRolledOut(object), { what: 'an unavailable pod' });
          await settled(2);
        },
        2000,
      );
      expectUnharmed(seen);
    },
    4 * minutes,
  );

  test(
    'leaves a node that is drained without a call that fails twice, and returns to it',
    async () => {
      const seen = await used(
        'a node drained',
        async () => {
          await cluster.kubectl(
            ['drain', 'second', '--ignore-daemonsets', '--delete-emptydir-data', kubectlTimeout(120)],
            { timeoutMs: 130_000, diagnose: () => stage.diagnose(shop) },
          );
          await settled(2);
        },
        2000,
      );
      expect(await nodesOfPods()).toEqual(['management', 'management']);
      await cluster.kubectl(['uncordon', 'second']);
      expectUnharmed(seen);
    },
    6 * minutes,
  );

  test(
    'sleeps without pods and continues with everything afterwards, its worker included',
    async () => {
      await cluster.kubectl(['-n', 'tenants', 'scale', 'tcp', shop, '--replicas=0']);
      await stage.waitFor(shop, (object) => versionOf(object).status === 'Sleeping');
      await settled(0);
      const ready = conditionOf(await cluster.client.read(stage.tenant(shop)), 'Ready');
      logStep('asleep', `Ready=${ready?.status ?? ''} ${ready?.reason ?? ''}: ${ready?.message ?? ''}`);
      await cluster.kubectl(['-n', 'tenants', 'scale', 'tcp', shop, '--replicas=1']);
      await stage.waitFor(shop, isReadyAt(newer));
      await client.waitFor({ apiVersion: 'v1', kind: 'Node', name: 'shop-worker' }, 'Ready', {
        timeoutMs: 2 * minutes,
      });
    },
    5 * minutes,
  );

  test(
    'is scaled by a HorizontalPodAutoscaler',
    async () => {
      const autoscaler = {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: shop, namespace: 'tenants' },
        spec: {
          scaleTargetRef: { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'TenantControlPlane', name: shop },
          minReplicas: 2,
          maxReplicas: 3,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
          ],
        },
      };
      await cluster.apply([autoscaler]);
      // Between two looks of the autoscaler lie 15 s.
      await cluster.waitFor(
        stage.tenant(shop),
        (object) => (object?.spec?.controlPlane as { deployment: { replicas: number } }).deployment.replicas === 2,
        { what: 'two replicas', timeoutMs: 90_000, diagnose: () => cluster.diagnose('tenants') },
      );
      await stage.waitFor(shop, 'Ready');
      await settled(2);
      const scale = await cluster.kubectl(['-n', 'tenants', 'get', 'tcp', shop, '--subresource=scale', '-o', 'json']);
      const { selector, replicas } = (JSON.parse(scale.stdout) as { status: { selector: string; replicas: number } })
        .status;
      expect(replicas).toBe(2);
      expect(await cluster.client.list('v1', 'Pod', 'tenants', selector)).toHaveLength(2);
      const able = conditionOf(
        await cluster.client.read(stage.at('HorizontalPodAutoscaler', shop, 'autoscaling/v2')),
        'AbleToScale',
      );
      expect(able?.status).toBe('True');
    },
    4 * minutes,
  );

  test(
    'denies writes if its author requests it, also in kube-system, while its worker continues',
    async () => {
      const { connection } = client;
      const attempts: Readonly<Record<string, () => Promise<unknown>>> = {
        create: () =>
          connection.send({
            method: 'POST',
            path: '/api/v1/namespaces/kube-system/configmaps',
            query: { dryRun: 'All' },
            body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } },
          }),
        scale: () =>
          connection.send({
            method: 'PATCH',
            path: '/apis/apps/v1/namespaces/kube-system/deployments/coredns/scale',
            query: { dryRun: 'All' },
            contentType: 'application/merge-patch+json',
            body: { spec: { replicas: 3 } },
          }),
        delete: () =>
          connection.send({
            method: 'DELETE',
            path: '/api/v1/namespaces/default/configmaps/register-0',
            query: { dryRun: 'All' },
          }),
        read: () => connection.send({ method: 'GET', path: '/api/v1/namespaces/default/configmaps/register-0' }),
      };
      const outcome = async (attempt: () => Promise<unknown>): Promise<string> =>
        attempt().then(
          () => 'done',
          (error: unknown) =>
            (error as Error).message.includes('steward-write-permissions') ? 'denied' : String(error),
        );
      const outcomes = async (): Promise<Readonly<Record<string, string>>> =>
        Object.fromEntries(
          await Promise.all(
            Object.entries(attempts).map(async ([name, attempt]) => [name, await outcome(attempt)] as const),
          ),
        );
      const become = async (expected: Readonly<Record<string, string>>): Promise<void> => {
        const deadline = deadlineIn(minutes / 2);
        while (JSON.stringify(await outcomes()) !== JSON.stringify(expected) && Date.now() < deadline) await pause(200);
        expect(await outcomes()).toEqual(expected);
      };
      await change({ writePermissions: { blockCreation: true, blockUpdate: true, blockDeletion: true } });
      await become({ create: 'denied', scale: 'denied', delete: 'denied', read: 'done' });
      const renewed = async (): Promise<unknown> =>
        (await client.read(inShop('coordination.k8s.io/v1', 'Lease', 'shop-worker', 'kube-node-lease')))?.spec
          ?.renewTime;
      const before = await renewed();
      // A kubelet renews its lease every ten seconds.
      const deadline = deadlineIn(minutes / 2);
      while ((await renewed()) === before && Date.now() < deadline) await pause(500);
      expect(await renewed()).not.toEqual(before);
      await change({ writePermissions: { blockCreation: false, blockUpdate: null, blockDeletion: true } });
      await become({ create: 'done', scale: 'done', delete: 'denied', read: 'done' });
      await change({ writePermissions: null });
      await become({ create: 'done', scale: 'done', delete: 'done', read: 'done' });
    },
    3 * minutes,
  );

  test(
    'is not changed while it is paused, and reconciled afterwards',
    async () => {
      const address = stage.tenant(shop);
      const key = 'steward.butlerlabs.dev/paused';
      const annotate = (value: string | null): Promise<void> =>
        cluster.client.merge(address, { metadata: { annotations: { [key]: value } } });
      await annotate('true');
      const said = async (): Promise<boolean> =>
        (await stage.events(shop)).some((event) => event.startsWith('Paused: '));
      for (const deadline = deadlineIn(minutes / 2); !(await said()) && Date.now() < deadline;) await pause(100);
      expect(await said()).toBe(true);
      const before = await cluster.client.read(deployment());
      await cluster.client.delete(deployment());
      await stage.gone(deployment());
      // A controller that is not paused would react to a change of a watched object.
      await change({ controlPlane: { deployment: { podAdditionalMetadata: { labels: { seen: 'afterwards' } } } } });
      await pause(2000);
      expect(await cluster.client.read(deployment())).toBeUndefined();
      await annotate(null);
      const after = await cluster.waitFor(deployment(), (object) => isRolledOut(object), { timeoutMs: 2 * minutes });
      expect(after?.metadata?.uid).not.toBe(before?.metadata?.uid);
      expect(JSON.stringify(after?.spec?.template)).toContain('afterwards');
      await stage.waitFor(shop, 'Ready');
    },
    4 * minutes,
  );

  test(
    'leaves nothing behind when it is deleted',
    async () => {
      await cluster.kubectl(['-n', 'tenants', 'delete', 'hpa', shop]);
      await cluster.kubectl(['-n', 'tenants', 'delete', 'tcp', shop, kubectlTimeout(120)], { timeoutMs: 130_000 });
      const kinds = 'secrets,services,deployments,configmaps,poddisruptionbudgets,networkpolicies,jobs';
      const left = async (): Promise<readonly string[]> => {
        const { stdout } = await cluster.kubectl(['-n', 'tenants', 'get', kinds, '-o', 'name']);
        return stdout.split('\n').filter((line) => line !== '' && line !== 'configmap/kube-root-ca.crt');
      };
      for (const deadline = deadlineIn(minutes); (await left()).length > 0 && Date.now() < deadline;) await pause(300);
      expect(await left()).toEqual([]);
    },
    4 * minutes,
  );
});
