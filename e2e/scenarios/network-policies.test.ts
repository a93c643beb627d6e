import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { PlainObject } from '../cluster/kubernetes-client.ts';
import { addRoute } from '../cluster/network/links.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { startWorker } from '../cluster/worker.ts';
import type { Worker } from '../cluster/worker.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { kustomize } from '../framework/install-steward.ts';
import { logStep } from '../framework/log.ts';
import { minutes } from '../framework/minutes.ts';
import { dialFrom, processOfPod } from '../framework/network/dial-from.ts';
import { preparePolicyAgent, startPolicyAgent } from '../framework/network/policy-agent.ts';
import { allOpen, printTable, reachTable, tableBelow } from '../framework/network/reach-table.ts';
import type { Source, Table, Target } from '../framework/network/reach-table.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import type { StewardCluster } from '../framework/steward-cluster.ts';
import { TenantStage } from '../framework/tenant-stage.ts';
import { webPod } from '../framework/web-pod.ts';
import { joinSecondNode } from '../framework/workers/second-node.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { storeImageArchive } from '../tools/store-images.ts';

const owned = scenarioResources();
/** Runs on the second node, with konnectivity and a worker. */
const first = 'a';
/** Runs on the machine of the management API server. */
const other = 'b';
/** Where clouds serve credentials to machines. */
const metadataService = '169.254.169.254';
/** Of a pod on the host network of the second node, which also stands in for that service. */
const hostPort = 8099;

/** Has the table of who reaches what where policies are enforced. */
const page = path.join(import.meta.dirname, '../../docs/explanation/pods-of-a-control-plane.md');

let steward: StewardCluster | undefined;
let cluster: ManagementCluster;
let stage: TenantStage;
let second: Worker;
let worker: Worker;
let targets: readonly Target[];

beforeAll(async () => {
  // Building may take minutes: here, not inside a test's time limit.
  const progress = (line: string): void => {
    logStep('tools', line);
  };
  await preparePolicyAgent(progress);
  const nats = await storeImageArchive('nats', { progress });
  steward = owned.use(await shareStewardCluster(owned.harness(`policies-${process.pid}`), logStep));
  cluster = steward.cluster;
  stage = new TenantStage(cluster, 'tenants');
  await cluster.loadImage(nats.path);
  await cluster.apply(await kustomize('config/datastores/nats-accounts'));
  worker = await startWorker({ harness: cluster.harness, name: 'worker-of-a' });
  owned.defer(() => worker.stop());
  // Before there is another node: only the first one has the images of manager and NATS.
  await podIsReady('steward-system', 'nats-0');
  second = await joinSecondNode(cluster, 'second');
  await cluster.apply([
    ...['tenants', 'strangers'].map((name) => namespace(name)),
    namespace('monitoring', { metrics: 'enabled' }),
    tenant(first, 'second', { konnectivity: { server: { port: 8132 } } }),
    tenant(other, 'management'),
    pod('stranger', 'strangers', 'second'),
    pod('prometheus', 'monitoring', 'management'),
    hostPod(),
  ]);
  await Promise.all([
    stage.waitFor(first, 'Ready'),
    stage.waitFor(other, 'Ready'),
    podIsReady('strangers', 'stranger'),
    podIsReady('strangers', 'host'),
    podIsReady('monitoring', 'prometheus'),
  ]);
  await routes();
  targets = await listeners();
}, 25 * minutes);

const podIsReady = (of: string, name: string): Promise<unknown> =>
  cluster.waitFor({ apiVersion: 'v1', kind: 'Pod', namespace: of, name }, 'Ready');

const namespace = (name: string, labels: Readonly<Record<string, string>> = {}): PlainObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

function tenant(name: string, node: string, addons: Readonly<Record<string, unknown>> = {}): PlainObject {
  return stage.manifest(name, {
    controlPlane: {
      deployment: { replicas: 1, nodeSelector: { 'kubernetes.io/hostname': node } },
      service: { serviceType: 'ClusterIP' },
    },
    kubernetes: { version: 'v1.36.3', kubelet: machineKubelet },
    networkProfile: { serviceCidr: '10.96.0.0/16', podCidr: '10.244.0.0/16' },
    addons: { coreDNS: {}, kubeProxy: {}, ...addons },
  });
}

function pod(name: string, of: string, nodeName: string): PlainObject {
  const made = webPod(name, { nodeName });
  return { ...made, metadata: { ...made.metadata, namespace: of } };
}

function hostPod(): PlainObject {
  const { spec, ...made } = pod('host', 'strangers', 'second');
  const [container] = (spec?.containers ?? []) as readonly object[];
  const readinessProbe = { httpGet: { port: hostPort, path: '/' }, periodSeconds: 1 };
  const args = ['netexec', `--http-port=${hostPort}`, '--udp-port=-1'];
  return { ...made, spec: { ...spec, hostNetwork: true, containers: [{ ...container, args, readinessProbe }] } };
}

/** Lets the worker's machine reach Services and pods, and everybody the address of the metadata service. */
async function routes(): Promise<void> {
  const { network, machine, address } = cluster;
  const ranges = await Promise.all(
    ['management', 'second'].map(async (name) => {
      const node = await cluster.client.read({ apiVersion: 'v1', kind: 'Node', name });
      return String(node?.spec?.podCIDR);
    }),
  );
  const [ofManagement = '', ofSecond = ''] = ranges;
  const { init } = worker.machine;
  await addRoute(network.services, address, init);
  await addRoute(ofManagement, address, init);
  await addRoute(ofSecond, second.address, init);
  await second.machine.exec(['ip', 'address', 'add', `${metadataService}/32`, 'dev', 'lo']);
  for (const from of [machine.init, init]) await addRoute(`${metadataService}/32`, second.address, from);
}

async function onlyPod(of: string, selector: string): Promise<PlainObject> {
  const pods = await cluster.client.list('v1', 'Pod', of, selector);
  const [found, more] = pods.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  if (found === undefined || more !== undefined) throw new Error(`One pod ${selector} is needed, not ${pods.length}.`);
  return found;
}

const podOf = (name: string): Promise<PlainObject> => onlyPod(stage.namespace, `steward.butlerlabs.dev/name=${name}`);
const manager = (): Promise<PlainObject> => onlyPod('steward-system', 'control-plane=controller-manager');
const addressOf = ({ status }: PlainObject): string => String(status?.podIP);

async function clusterIp(of: string, name: string): Promise<string> {
  const found = await cluster.client.read({ apiVersion: 'v1', kind: 'Service', namespace: of, name });
  return String(found?.spec?.clusterIP);
}

async function listeners(): Promise<readonly Target[]> {
  const [firstPod, secondPod, managerPod, etcd, nats, stranger] = (
    await Promise.all([
      podOf(first),
      podOf(other),
      manager(),
      onlyPod('steward-system', 'statefulset.kubernetes.io/pod-name=etcd-0'),
      onlyPod('steward-system', 'statefulset.kubernetes.io/pod-name=nats-0'),
      onlyPod('strangers', 'app=stranger'),
    ])
  ).map(addressOf);
  const at = (name: string, address: string | undefined, port: number): Target => ({ name, at: `${address}:${port}` });
  return [
    at('A: API server', firstPod, 6443),
    at('A: konnectivity, agents', firstPod, 8132),
    at('A: konnectivity, health', firstPod, 8134),
    at('A: kube-controller-manager', firstPod, 10257),
    at('A: kube-scheduler', firstPod, 10259),
    at('A: Service of the API server', await clusterIp('tenants', first), 6443),
    at('B: API server', secondPod, 6443),
    at('B: kube-controller-manager', secondPod, 10257),
    at('etcd: clients', etcd, 2379),
    at('etcd: peers', etcd, 2380),
    at('etcd: metrics', etcd, 2381),
    at('NATS: clients', nats, 4222),
    at('NATS: monitoring', nats, 8222),
    at('manager: webhooks', managerPod, 9443),
    at('manager: metrics', managerPod, 8443),
    at('manager: probes', managerPod, 8081),
    at('management API server: Service', await clusterIp('default', 'kubernetes'), 443),
    at('management API server: machine', cluster.address, 6443),
    at('the same machine: kubelet', cluster.address, 10250),
    at('the same machine: etcd, peers', cluster.address, 2380),
    at('the same machine: etcd, clients', cluster.address, 2379),
    at('the same machine: kube-proxy', cluster.address, 10256),
    at('another machine', second.address, hostPort),
    at('metadata of a cloud', metadataService, hostPort),
    at('other pod', stranger, 8080),
    at('CoreDNS', await clusterIp('kube-system', 'kube-dns'), 53),
  ];
}

/** The table of who reaches what now. */
async function reached(): Promise<Table> {
  const nodes = [cluster.machine, second.machine];
  const inPod = async (name: string, found: PlainObject): Promise<Source> => {
    const pid = await processOfPod(nodes, found.metadata?.uid ?? '');
    return { name, dial: (all) => dialFrom(pid, all) };
  };
  const table = await reachTable(
    [
      await inPod('A', await podOf(first)),
      await inPod('B', await podOf(other)),
      await inPod('manager', await manager()),
      await inPod('other pod', await onlyPod('strangers', 'app=stranger')),
      await inPod('Prometheus', await onlyPod('monitoring', 'app=prometheus')),
      { name: 'worker of A', dial: (all) => dialFrom(worker.machine.init, all) },
    ],
    targets,
  );
  logStep('who reaches what', `\n${printTable(table)}`);
  return table;
}

const documented = async (): Promise<Table> => tableBelow('### Who reaches what', await readFile(page, 'utf8'));

describe('The NetworkPolicies of control planes, manager and datastores', () => {
  test(
    'have no effect in a network that does not enforce them: every source reaches every target',
    async () => {
      expect(await reached()).toEqual(allOpen(await documented()));
    },
    2 * minutes,
  );

  test(
    'keep control planes from the management API server and the credentials of machines, and all other pods from administrative ports, where they are enforced',
    async () => {
      const onFirst = owned.use(await startPolicyAgent(cluster, cluster.machine));
      const onSecond = owned.use(await startPolicyAgent(cluster, second.machine));
      await onFirst.covers([await podOf(other), await manager()].map(addressOf));
      await onSecond.covers([addressOf(await podOf(first))]);
      expect(await reached()).toEqual(await documented());
    },
    3 * minutes,
  );

  test(
    'let workers join, konnectivity carry calls to them, and new control planes become Ready',
    async () => {
      await cluster.apply([tenant('c', 'second')]);
      const { controlPlaneEndpoint = '' } = await stage.waitFor(first, 'Ready');
      await joinByHand(stage, { tenant: first, endpoint: controlPlaneEndpoint, worker: worker.name, started: worker });
      const client = await stage.open(first);
      const diagnose = (): Promise<string> => worker.machine.lastWords();
      await client.apply([webPod('web')]);
      await client.waitFor({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web' }, 'Ready', { diagnose });
      const kubeconfig = await stage.kubeconfigFile(first);
      const { stdout } = await cluster.kubectl(['--kubeconfig', kubeconfig, 'logs', 'web']);
      expect(stdout).toContain('Started HTTP server');
      await stage.waitFor('c', 'Ready');
      for (const name of [first, other]) await stage.waitFor(name, 'Ready');
    },
    5 * minutes,
  );

  test(
    'no longer keep a control plane from the management API server when its author opens the egress',
    async () => {
      const { at = '' } = targets.find(({ name }) => name === 'management API server: Service') ?? {};
      const pid = await processOfPod([second.machine], (await podOf(first)).metadata?.uid ?? '');
      const isOpen = async (): Promise<boolean> => (await dialFrom(pid, [at])).has(at);
      expect(await isOpen()).toBe(false);
      await cluster.client.merge(stage.tenant(first), {
        spec: { controlPlane: { networkPolicy: { egress: 'Open' } } },
      });
      const deadline = deadlineIn(minutes);
      while (!(await isOpen()) && Date.now() < deadline) await pause(200);
      expect(await isOpen()).toBe(true);
    },
    2 * minutes,
  );
});
