import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { tenantObjects } from '../../api/names.ts';
import { KubernetesClient } from '../cluster/kubernetes-client.ts';
import type { PlainObject } from '../cluster/kubernetes-client.ts';
import { addRoute } from '../cluster/network/links.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import type { Worker } from '../cluster/worker.ts';
import { boundsOf, loadShortfalls, tooFew } from '../framework/load/load-shortfalls.ts';
import { throughRouter } from '../framework/network/through-router.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { ServiceProbe } from '../framework/load/service-probe.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import type { StewardCluster } from '../framework/steward-cluster.ts';
import { logStep } from '../framework/log.ts';
import { TenantLoad } from '../framework/load/tenant-load.ts';
import { TenantStage } from '../framework/tenant-stage.ts';
import { gatewayClass, ingressClass, installTraefik } from '../framework/traefik.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { traefikArchive } from '../tools/traefik-image.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { minutes } from '../framework/minutes.ts';
import { namedLeftovers } from '../framework/named-leftovers.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';

const owned = scenarioResources();
const shop = 'shop';
const [first, second] = ['shop.tenants.example', 'store.tenants.example'] as const;
/** The host name that konnectivity agents dial. */
const agents = 'agents.tenants.example';

let steward: StewardCluster | undefined;
let cluster: ManagementCluster;
let stage: TenantStage;
/** Where Traefik listens. */
let router: string;
let client: KubernetesClient;
let worker: Worker | undefined;

beforeAll(async () => {
  // Building may take minutes: here, not inside a test's time limit.
  await traefikArchive((line) => {
    logStep('tools', line);
  });
  steward = owned.use(await shareStewardCluster(owned.harness(`exposure-${process.pid}`), logStep));
  cluster = steward.cluster;
  owned.defer(async () => worker?.stop());
  stage = new TenantStage(cluster, 'tenants');
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } }]);
  router = await installTraefik(cluster);
  await cluster.apply([gateway]);
}, 25 * minutes);

const gateway: PlainObject = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'edge', namespace: 'tenants' },
  spec: {
    gatewayClassName: gatewayClass,
    listeners: [
      { name: 'kube-apiserver', port: 6443, protocol: 'TLS', tls: { mode: 'Passthrough' } },
      { name: 'konnectivity-server', port: 8132, protocol: 'TLS', tls: { mode: 'Passthrough' } },
    ],
  },
};

/** Subject alternative names in the certificate that the router leads to for a server name; its own or none if it leads nowhere. */
async function certificateFor(name: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: router, port: 443, servername: name, rejectUnauthorized: false });
    socket.once('secureConnect', () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw).subjectAltName ?? '');
      socket.destroy();
    });
    socket.once('error', () => {
      resolve('');
    });
  });
}

const change = (spec: Readonly<Record<string, unknown>>): Promise<void> =>
  cluster.client.merge(stage.tenant(shop), { spec });

async function untilEndpoint(endpoint: string): Promise<void> {
  await stage.waitFor(
    shop,
    (object) =>
      object?.status?.controlPlaneEndpoint === endpoint &&
      (object.status.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True'),
    { what: `Ready at ${endpoint}` },
  );
}

/** The servers that the four kubeconfigs, `cluster-info` and kube-proxy name. */
async function named(): Promise<Readonly<Record<string, string | undefined>>> {
  const server = (text = ''): string | undefined => /server: (\S+)/.exec(text)?.[1];
  const files = await stage.secret(tenantObjects(shop).adminKubeconfig);
  const inside = { apiVersion: 'v1', kind: 'ConfigMap' };
  const info = await client.read({ ...inside, namespace: 'kube-public', name: 'cluster-info' });
  const proxy = await client.read({ ...inside, namespace: 'kube-system', name: 'kube-proxy' });
  return {
    ...Object.fromEntries(Object.entries(files).map(([key, text]) => [key, server(text)])),
    'cluster-info': server(info?.data?.kubeconfig),
    'kube-proxy': server(proxy?.data?.['kubeconfig.conf']),
  };
}

/** Uses the control plane by its present name while `work` is done; no call may fail. */
async function underLoad(title: string, work: () => Promise<void>): Promise<void> {
  const kubeconfig = throughRouter(await stage.kubeconfig(shop), router);
  const newcomer = (): KubernetesClient => new KubernetesClient(kubeconfig);
  await using load = new TenantLoad(newcomer(), {
    namespace: 'default',
    writesPerSecond: 30,
    readsPerSecond: 20,
    registers: 6,
    newcomersPerSecond: 4,
    newcomer,
    floor: stage.cluster.client,
  });
  await load.start();
  if (worker === undefined) throw new Error('there is no worker whose connections could fail');
  const probe = await ServiceProbe.start(worker.machine, '10.96.0.1', 443);
  const probing = performance.now();
  await pause(2000);
  await work();
  await pause(2000);
  const lastedMs = performance.now() - probing;
  const inside = await probe.stop();
  logStep(title, `${inside.tries} connections of the worker to the Service kubernetes, ${inside.failed.length} failed`);
  for (const failure of inside.failed) logStep(`${title}, on the worker`, failure);
  const report = await load.stop();
  const { writes, reads, failedReads, failedWrites, staleReads } = report;
  const failed = [...failedWrites, ...failedReads];
  logStep(title, `${writes} writes and ${reads} reads, ${failed.length} failed, ${staleReads} stale`);
  for (const failure of new Set(failed)) logStep(title, failure);
  const triedByWorker = { what: 'connections of the worker', count: inside.tries, perSecond: 5, lastedMs };
  const shortfalls = [...loadShortfalls(report), ...tooFew([triedByWorker], boundsOf(report))];
  const seen = { failed, inside: inside.failed, staleReads, lost: await load.lost(), shortfalls };
  expect(seen).toEqual({ failed: [], inside: [], staleReads: 0, lost: [], shortfalls: [] });
}

/** Whether a worker that joined long ago still follows the control plane: a pod is created, runs, and shows its logs through konnectivity. */
async function workerRuns(name: string): Promise<void> {
  const pod: PlainObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      restartPolicy: 'OnFailure',
      containers: [
        {
          name: 'asks',
          image: 'registry.k8s.io/e2e-test-images/agnhost:2.63.0',
          imagePullPolicy: 'IfNotPresent',
          command: ['/agnhost', 'connect', 'kubernetes.default.svc:443', '--timeout=5s'],
          terminationMessagePolicy: 'FallbackToLogsOnError',
        },
      ],
    },
  };
  await client.apply([pod]);
  const done = await client.waitFor(
    { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name },
    (object) => object?.status?.phase === 'Succeeded',
    { timeoutMs: 2 * minutes, diagnose: async () => (await worker?.machine.lastWords()) ?? '' },
  );
  const [run] = (done?.status?.containerStatuses ?? []) as {
    readonly restartCount: number;
    readonly lastState: unknown;
  }[];
  logStep(
    name,
    `ran after ${run?.restartCount ?? 0} failures${run?.restartCount === 0 ? '' : JSON.stringify(run?.lastState)}`,
  );
  await showsLogs(name);
}

/** Asks the worker's kubelet through konnectivity, whose agents may just be restarting, at another port of the router. */
async function showsLogs(name: string): Promise<void> {
  const file = path.join(cluster.harness.folder, 'through-the-router');
  await writeFile(file, throughRouter(await stage.kubeconfig(shop), router), { mode: 0o600 });
  const deadline = deadlineIn(minutes);
  for (let failures = 0; ; failures += 1) {
    try {
      await cluster.kubectl(['--kubeconfig', file, 'logs', name, '--request-timeout=5s']);
      logStep(name, `showed its logs after ${failures} failures`);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await pause(500);
  }
}

describe('A control plane with a host name', () => {
  test(
    'is published by an Ingress, and a worker joins through it',
    async () => {
      await cluster.apply([
        stage.manifest(shop, {
          controlPlane: {
            deployment: { replicas: 1 },
            service: { serviceType: 'ClusterIP' },
            ingress: { hostname: first, ingressClassName: ingressClass, controllerType: 'nginx' },
          },
          kubernetes: { version: 'v1.36.3', kubelet: machineKubelet },
          networkProfile: { serviceCidr: '10.96.0.0/16', podCidr: '10.244.0.0/16' },
          addons: { coreDNS: {}, kubeProxy: {}, konnectivity: { server: { port: 8132, hostname: agents } } },
        }),
      ]);
      await untilEndpoint(`${first}:443`);
      client = new KubernetesClient(throughRouter(await stage.kubeconfig(shop), router));
      worker = await joinByHand(stage, {
        tenant: shop,
        endpoint: `${first}:443`,
        worker: 'shop-worker',
        open: () => client,
        prepare: async ({ machine }) => {
          await machine.exec(['sh', '-c', `echo '${router} ${first} ${second} ${agents}' >> /etc/hosts`]);
          await addRoute(cluster.network.services, cluster.address, machine.init);
        },
      });
      await client.waitFor(
        { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kube-system', name: 'coredns' },
        'Available',
        { timeoutMs: 2 * minutes, diagnose: async () => (await worker?.machine.lastWords()) ?? '' },
      );
      await workerRuns('by-ingress');
    },
    8 * minutes,
  );

  test(
    'gets another name without a failed call by the old one; everything is updated, and workers that joined by the old one stay',
    async () => {
      await underLoad('another name', async () => {
        await change({ controlPlane: { ingress: { hostname: second } } });
        await untilEndpoint(`${second}:443`);
      });
      expect(await certificateFor(second)).toContain(`DNS:${second}`);
      const servers = Object.entries(await named());
      expect(servers.filter(([key]) => !key.endsWith('.svc'))).not.toEqual([]);
      for (const [key, server] of servers) {
        if (!key.endsWith('.svc')) expect([key, server]).toEqual([key, `https://${second}:443`]);
      }
      client = new KubernetesClient(throughRouter(await stage.kubeconfig(shop), router));
      const proxy = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'kube-proxy' };
      await client.waitFor(proxy, ({ status, metadata } = {}) => {
        return status?.observedGeneration === metadata?.generation && status?.numberReady === 1;
      });
      await workerRuns('by-another-name');
      expect(await certificateFor(first)).toContain(`DNS:${second}`);
    },
    6 * minutes,
  );

  test.each([
    [
      'a Gateway',
      { ingress: null, gateway: { hostname: second, parentRefs: [{ name: 'edge' }] } },
      `${second}:6443`,
      ['tlsroute.gateway.networking.k8s.io/shop', 'tlsroute.gateway.networking.k8s.io/shop-konnectivity'],
    ],
    [
      'Traefik',
      { gateway: null, ingress: { hostname: second, controllerType: 'traefik' } },
      `${second}:443`,
      ['ingressroutetcp.traefik.io/shop'],
    ],
  ])(
    'changes to %s without a failed call',
    async (title, controlPlane, endpoint, routes) => {
      await underLoad(title, async () => {
        await change({ controlPlane });
        await untilEndpoint(endpoint);
      });
      const kind = String(routes[0]?.split('/')[0]);
      const { stdout } = await cluster.kubectl(['-n', 'tenants', 'get', '-o', 'name', kind]);
      expect(stdout.trim().split('\n')).toEqual(routes);
      client = new KubernetesClient(throughRouter(await stage.kubeconfig(shop), router));
      await workerRuns(endpoint.endsWith(':6443') ? 'by-gateway' : 'by-traefik');
    },
    6 * minutes,
  );

  test(
    'leaves no route behind when it is deleted',
    async () => {
      await cluster.kubectl(['-n', 'tenants', 'delete', 'tcp', shop, kubectlTimeout(120)], { timeoutMs: 130_000 });
      expect(await namedLeftovers(cluster, { namespace: 'tenants', name: shop })).toEqual([]);
      const deadline = deadlineIn(minutes / 2);
      while ((await certificateFor(second)).includes(second) && Date.now() < deadline) await pause(200);
      expect(await certificateFor(second)).not.toContain(second);
    },
    3 * minutes,
  );
});
