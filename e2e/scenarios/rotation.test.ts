import { X509Certificate } from 'node:crypto';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { KubernetesClient } from '../cluster/kubernetes-client.ts';
import type { PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { runCommand } from '../cluster/machines/run-command.ts';
import type { Worker } from '../cluster/worker.ts';
import { openHowTo } from '../framework/how-to-page.ts';
import type { HowToPage } from '../framework/how-to-page.ts';
import { loadShortfalls, tooFew } from '../framework/load/load-shortfalls.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import type { StewardCluster } from '../framework/steward-cluster.ts';
import { logStep } from '../framework/log.ts';
import { TenantLoad } from '../framework/load/tenant-load.ts';
import { TenantStage } from '../framework/tenant-stage.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { TunnelWitness } from '../framework/load/tunnel-witness.ts';
import { agnhost } from '../framework/web-pod.ts';
import { minutes } from '../framework/minutes.ts';

const owned = scenarioResources();
const agents = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'konnectivity-agent' };
/** As the page calls it. */
const name = 'tenant-00';

let steward: StewardCluster | undefined;
let cluster: ManagementCluster;
let stage: TenantStage;
let page: HowToPage;
let endpoint = '';
/** What there was before the rotation. */
let before:
  | {
      readonly kubeconfig: string;
      readonly token: string;
      readonly authority: string;
      readonly worker: Worker;
      readonly agentsGeneration: number;
    }
  | undefined;
let young: Worker | undefined;

beforeAll(async () => {
  steward = owned.use(await shareStewardCluster(owned.harness(`rotation-${process.pid}`), logStep));
  cluster = steward.cluster;
  owned.defer(async () => before?.worker.stop());
  owned.defer(async () => young?.stop());
  stage = new TenantStage(cluster, 'default');
  page = await openHowTo(cluster, 'rotate-authorities');
}, 20 * minutes);

function old(): NonNullable<typeof before> {
  if (before === undefined) throw new Error('the control plane was not made');
  return before;
}

/** A kubeconfig with a token in the place of its user's certificate. */
function withToken(kubeconfig: string, token: string): string {
  return kubeconfig
    .replace(/^( *)client-certificate-data: .*$/m, `$1token: ${token}`)
    .replace(/^ *client-key-data: .*\n/m, '');
}

async function mayRead(kubeconfig: string): Promise<boolean> {
  return new KubernetesClient(kubeconfig).connection.send({ method: 'GET', path: '/version' }).then(
    () => true,
    // A client that is locked out cannot distinguish whether it is not trusted or not known.
    () => false,
  );
}

/** The user that the API server sees for a kubeconfig; throws if there is none. */
async function whoIs(kubeconfig: string): Promise<string> {
  const { status } = await new KubernetesClient(kubeconfig).connection.send<{
    readonly status: { readonly userInfo: { readonly username: string } };
  }>({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  });
  return status.userInfo.username;
}

/** Uses the control plane while `work` is done, with a kubeconfig that is good all the time; no call may fail. */
async function underLoad(title: string, kubeconfig: string, work: () => Promise<void>): Promise<void> {
  const newcomer = (): KubernetesClient => new KubernetesClient(kubeconfig);
  await using load = new TenantLoad(newcomer(), {
    namespace: 'default',
    writesPerSecond: 20,
    readsPerSecond: 20,
    registers: 4,
    newcomersPerSecond: 4,
    newcomer,
    floor: cluster.client,
  });
  await load.start();
  const began = performance.now();
  await pause(1000);
  await work();
  await pause(1000);
  const report = await load.stop();
  const { writes, reads, failedReads, failedWrites, staleReads } = report;
  const failed = [...failedWrites, ...failedReads];
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  logStep(title, `${seconds} s, ${writes} writes and ${reads} reads, ${failed.length} failed, ${staleReads} stale`);
  for (const failure of new Set(failed)) logStep(title, failure);
  const seen = { failed, staleReads, lost: await load.lost(), shortfalls: loadShortfalls(report) };
  expect(seen).toEqual({ failed: [], staleReads: 0, lost: [], shortfalls: [] });
}

async function kubelets(worker: Worker): Promise<readonly number[]> {
  const found = (await worker.machine.processes()).filter(({ command }) => command === 'kubelet');
  return found.map(({ pid }) => pid);
}

/** A pod is created and runs on this worker, so its kubelet can read from and write to the API server. */
async function runsPods(client: KubernetesClient, worker: Worker, called: string): Promise<void> {
  const pod: PlainObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: called, namespace: 'default' },
    spec: {
      nodeName: worker.name,
      restartPolicy: 'OnFailure',
      containers: [
        {
          name: 'asks',
          image: agnhost,
          imagePullPolicy: 'IfNotPresent',
          // By its address: pods of different workers are not routed to each other here, so neither is DNS.
          command: ['/agnhost', 'connect', '$(KUBERNETES_SERVICE_HOST):443', '--timeout=5s'],
        },
      ],
    },
  };
  await client.apply([pod]);
  await client.waitFor(
    { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: called },
    (object) => object?.status?.phase === 'Succeeded',
    { timeoutMs: 2 * minutes, diagnose: () => worker.machine.lastWords() },
  );
}

/** A pod on this worker that writes a line and goes on. */
async function startTalking(client: KubernetesClient, worker: Worker): Promise<void> {
  const container = { name: 'talks', image: agnhost, imagePullPolicy: 'IfNotPresent', args: ['netexec'] };
  const pod = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: `on-${worker.name}` };
  await client.apply([
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: pod.name, namespace: pod.namespace },
      spec: { nodeName: worker.name, terminationGracePeriodSeconds: 1, containers: [container] },
    },
  ]);
  await client.waitFor(pod, 'Ready', { timeoutMs: minutes, diagnose: () => worker.machine.lastWords() });
}

/** What kubectl does over the tunnel with the pod of {@link startTalking}, as the kubeconfig of now lets it. */
async function tunnelCalls(worker: Worker): Promise<Readonly<Record<string, () => Promise<void>>>> {
  const kubeconfig = await stage.kubeconfigFile(name);
  const kubectl = path.join(cluster.harness.folder, 'bin', cluster.machine.record.kubernetes, 'kubectl');
  const call = async (args: readonly string[], expected: string): Promise<void> => {
    const all = ['--kubeconfig', kubeconfig, '--request-timeout=5s', ...args];
    expect((await runCommand(kubectl, all, { timeoutMs: 10_000 })).stdout).toContain(expected);
  };
  const pod = `on-${worker.name}`;
  return {
    logs: () => call(['logs', pod, '--tail=20'], 'Started HTTP server'),
    exec: () => call(['exec', pod, '--', '/agnhost', '--version'], 'version'),
  };
}

/**
 * Reads logs and runs programs on this worker while `work` is done, and once more afterwards. A new server of the tunnel has its agents
 * within seconds, since they look for it every five; for so long calls may fail, and no longer.
 */
async function throughTunnel<T>(title: string, worker: Worker, work: () => Promise<T>): Promise<T> {
  const calls = await tunnelCalls(worker);
  for (const call of Object.values(calls)) await call();
  const began = performance.now();
  await using witness = new TunnelWitness(calls);
  const done = await work();
  const { calls: count, failed, longestOutageMs } = await witness.stop();
  const lastedMs = performance.now() - began;
  const longest = `${(longestOutageMs / 1000).toFixed(1)} s`;
  logStep(title, `through the tunnel ${count} calls, ${failed.length} failed, for ${longest} at most`);
  for (const failure of failed) logStep(title, failure);
  expect(longestOutageMs).toBeLessThan(20_000);
  // One after the other, with starts of kubectl between: one in two seconds, and each kind of call.
  expect(tooFew([{ what: 'calls through the tunnel', count, perSecond: 2.5, lastedMs }])).toEqual([]);
  for (const call of Object.values(await tunnelCalls(worker))) await call();
  return done;
}

/** Waits until all agents are pods of a template newer than this generation, and Ready. */
async function agentsAreNewerThan(generation: number): Promise<void> {
  const isNew = ({ metadata, status }: PlainObject = {}): boolean =>
    (metadata?.generation ?? 0) > generation &&
    status?.observedGeneration === metadata?.generation &&
    status?.updatedNumberScheduled === status?.desiredNumberScheduled &&
    status?.numberReady === status?.desiredNumberScheduled;
  await (await stage.open(name)).waitFor(agents, isNew, { timeoutMs: 2 * minutes, what: 'new agents, all Ready' });
}

/** Whether the certificate for agents was issued by this CA. */
async function tunnelIsOf(authority: string): Promise<boolean> {
  const { 'tls.crt': shown = '' } = await stage.secret(`${name}-konnectivity-certificate`);
  return new X509Certificate(shown).verify(new X509Certificate(authority).publicKey);
}

const authorityOfNow = async (): Promise<string> => (await stage.secret(`${name}-ca`))['ca.crt'] ?? '';

describe('The rotation of all CAs and of the service-account key', () => {
  test(
    'begins with a control plane, a worker, a user and a token',
    async () => {
      await cluster.apply([
        stage.manifest(name, {
          controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } },
          kubernetes: { version: 'v1.36.3', kubelet: machineKubelet },
          networkProfile: { serviceCidr: cluster.network.services, podCidr: cluster.network.pods },
          addons: { coreDNS: {}, kubeProxy: {}, konnectivity: {} },
        }),
      ]);
      ({ controlPlaneEndpoint: endpoint = '' } = await stage.waitFor(name, 'Ready'));
      const kubeconfig = await stage.kubeconfig(name);
      const client = new KubernetesClient(kubeconfig);
      const worker = await joinByHand(stage, { tenant: name, endpoint, worker: 'old-worker' });
      const { status } = await client.connection.send<{ readonly status: { readonly token: string } }>({
        method: 'POST',
        path: '/api/v1/namespaces/default/serviceaccounts/default/token',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 36_000 } },
      });
      const authority = await authorityOfNow();
      expect(await tunnelIsOf(authority)).toBe(true);
      const started = await client.waitFor(agents, (object) => object?.status?.numberReady === 1, {
        timeoutMs: 2 * minutes,
      });
      const agentsGeneration = started?.metadata?.generation ?? 0;
      before = { kubeconfig, token: withToken(kubeconfig, status.token), authority, worker, agentsGeneration };
      await startTalking(client, worker);
      expect(await whoIs(old().token)).toBe('system:serviceaccount:default:default');
    },
    5 * minutes,
  );

  test(
    'is prepared without interrupting any client',
    async () => {
      const { kubeconfig, token, worker } = old();
      const kubelet = await kubelets(worker);
      await throughTunnel('prepare', worker, () =>
        underLoad('prepare', kubeconfig, async () => {
          logStep('the page', (await page.run('1. Prepare')).trim().split('\n').at(-1) ?? '');
        }),
      );
      expect(await whoIs(kubeconfig)).toBe('kubernetes-admin');
      expect(await whoIs(token)).toBe('system:serviceaccount:default:default');
      const client = await stage.open(name);
      await runsPods(client, worker, 'while-prepared');
      expect(await kubelets(worker)).toEqual(kubelet);
      await client.waitFor({ apiVersion: 'v1', kind: 'Node', name: worker.name }, 'Ready');
    },
    12 * minutes,
  );

  test(
    'lets a worker join in between, as the page says',
    async () => {
      const { worker, agentsGeneration } = old();
      const client = await stage.open(name);
      // The old agent takes its 30 s to end: its successor comes beside the worker that joins.
      const joined = await throughTunnel('follow', worker, async () => {
        const newcomer = await joinByHand(stage, { tenant: name, endpoint, worker: 'young-worker' });
        young = newcomer;
        await runsPods(client, newcomer, 'on-the-young');
        await agentsAreNewerThan(agentsGeneration);
        return newcomer;
      });
      await worker.stop();
      await client.delete({ apiVersion: 'v1', kind: 'Node', name: worker.name });
      await startTalking(client, joined);
    },
    5 * minutes,
  );

  test(
    'is completed without a failed call of clients that use the new credentials, and locks out the others',
    async () => {
      if (young === undefined) throw new Error('no worker has followed');
      const kubelet = await kubelets(young);
      const kubeconfigOfNow = await stage.kubeconfig(name);
      await throughTunnel('complete', young, () =>
        underLoad('complete', kubeconfigOfNow, async () => {
          await page.run('3. Complete');
          await stage.waitFor(name, 'Ready');
        }),
      );
      expect(page.untried).toEqual([]);
      // The agents from before the completion have connected again, to servers with certificates of the new CA.
      expect(await Promise.all([await authorityOfNow(), old().authority].map(tunnelIsOf))).toEqual([true, false]);
      const { kubeconfig, token } = old();
      expect(await mayRead(kubeconfig)).toBe(false);
      expect(await mayRead(token)).toBe(false);
      const fresh = await stage.kubeconfig(name);
      expect(await whoIs(fresh)).toBe('kubernetes-admin');
      // The old token with the new CA: only the token is no longer valid.
      const oldToken = /token: (\S+)/.exec(token)?.[1] ?? '';
      await expect(whoIs(withToken(fresh, oldToken))).rejects.toThrow('401');
      await runsPods(new KubernetesClient(fresh), young, 'when-completed');
      expect(await kubelets(young)).toEqual(kubelet);
    },
    12 * minutes,
  );
});
