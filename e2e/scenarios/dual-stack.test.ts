import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import type { KubernetesClient, PlainObject } from '../cluster/kubernetes-client.ts';
import { runCommand } from '../cluster/machines/run-command.ts';
import { addRoute } from '../cluster/network/links.ts';
import type { Worker } from '../cluster/worker.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { logStep } from '../framework/log.ts';
import { minutes } from '../framework/minutes.ts';
import { untilReached } from '../framework/network/until-reached.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import type { StewardCluster } from '../framework/steward-cluster.ts';
import { TenantStage } from '../framework/tenant-stage.ts';
import { webPod } from '../framework/web-pod.ts';
import { addonsRun } from '../framework/workers/addons-run.ts';
import { joinByHand, machineKubelet, podRanges } from '../framework/workers/tenant-worker.ts';

const owned = scenarioResources();
const name = 'both';
const sample = path.join(
  import.meta.dirname,
  '../../config/samples/steward_v1alpha1_tenantcontrolplane_dual_stack.yaml',
);
/** The workers, with their addresses of the second IP family. */
const addresses = { near: 'fd00:172:30::1', far: 'fd00:172:30::2' } as const;
type WorkerName = keyof typeof addresses;

let steward: StewardCluster;
let stage: TenantStage;
let tenant: KubernetesClient;
const workers = new Map<WorkerName, Worker>();

beforeAll(async () => {
  steward = owned.use(await shareStewardCluster(owned.harness(`dual-stack-${process.pid}`), logStep));
  await steward.cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'families' } }]);
  stage = new TenantStage(steward.cluster, 'families');
}, 25 * minutes);

/** kubectl as the tenant's administrator. */
async function tenantKubectl(...args: readonly string[]): Promise<string> {
  const { harness, machine } = steward.cluster;
  const binary = path.join(harness.folder, 'bin', machine.record.kubernetes, 'kubectl');
  const kubeconfig = await stage.kubeconfigFile(name);
  return (await runCommand(binary, ['--kubeconfig', kubeconfig, ...args], { timeoutMs: 30_000 })).stdout;
}

const diagnose = async (): Promise<string> => {
  const words = await Promise.all([...workers.values()].map((worker) => worker.machine.lastWords()));
  return [await tenantKubectl('get', 'nodes,pods,services,events', '-A', '-o', 'wide'), ...words].join('\n');
};

/** What answers at this host, asked by the pod on the other worker. kube-proxy may take a moment to learn where a Service leads. */
async function asked(host: string): Promise<unknown> {
  const query = new URLSearchParams({ host, port: '8080', protocol: 'http', request: 'hostname', tries: '1' });
  const dial = `/api/v1/namespaces/default/pods/client:8080/proxy/dial?${query.toString()}`;
  const deadline = deadlineIn(minutes / 2);
  for (;;) {
    const said = await untilReached(() => tenantKubectl('get', '--raw', dial));
    const answer = JSON.parse(said) as { readonly responses?: readonly string[] };
    if (answer.responses !== undefined || Date.now() > deadline) return { host, ...answer };
    await pause(250);
  }
}

function addressesOf(pod: PlainObject | undefined): readonly string[] {
  const found = pod?.status?.podIPs as readonly { readonly ip: string }[] | undefined;
  return (found ?? []).map(({ ip }) => ip);
}

const pod = (of: string) => ({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: of });

test(
  'A tenant with networks of both IP families gives its workers a range of each for their pods',
  async () => {
    const { spec } = parse(await readFile(sample, 'utf8')) as { spec: { networkProfile: object } };
    const { networkProfile } = spec;
    const kubernetes = { version: 'v1.36.3', kubelet: machineKubelet };
    const addons = { coreDNS: {}, kubeProxy: {}, konnectivity: { server: { port: 8132 } } };
    const controlPlane = { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } };
    await steward.cluster.apply([stage.manifest(name, { controlPlane, kubernetes, networkProfile, addons })]);
    const { controlPlaneEndpoint = '' } = await stage.waitFor(name, 'Ready');
    tenant = await stage.open(name);
    for (const [each, secondAddress] of Object.entries(addresses) as [WorkerName, string][]) {
      const to = { tenant: name, endpoint: controlPlaneEndpoint, worker: each, secondAddress };
      workers.set(each, await joinByHand(stage, to));
    }
    for (const [each, worker] of workers) {
      const other = each === 'near' ? 'far' : 'near';
      const node = await tenant.read({ apiVersion: 'v1', kind: 'Node', name: other });
      const [ipv4 = '', ipv6 = ''] = podRanges(node);
      expect([ipv4, ipv6]).toEqual([expect.stringMatching(/^10\.244\./), expect.stringMatching(/^fd00:10:244:/)]);
      await addRoute(ipv4, workers.get(other)?.address ?? '', worker.machine.init);
      await addRoute(ipv6, addresses[other], worker.machine.init);
    }
    await addonsRun(tenant, { diagnose, workers: workers.size });
  },
  8 * minutes,
);

test(
  'A pod and a Service are reached from another worker by addresses of both IP families, and by name',
  async () => {
    const service: PlainObject = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { app: 'web' }, ports: [{ port: 8080 }], ipFamilyPolicy: 'RequireDualStack' },
    };
    const onlyIpv6: PlainObject = {
      ...service,
      metadata: { name: 'web-ipv6', namespace: 'default' },
      spec: { ...service.spec, ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] },
    };
    await tenant.apply([webPod('web', { nodeName: 'far' }), webPod('client', { nodeName: 'near' }), service, onlyIpv6]);
    await tenant.waitFor(pod('client'), 'Ready', { diagnose });
    const web = addressesOf(await tenant.waitFor(pod('web'), 'Ready', { diagnose }));
    expect(web).toEqual([expect.stringMatching(/^10\.244\./), expect.stringMatching(/^fd00:10:244:/)]);
    const found = await tenant.read({ apiVersion: 'v1', kind: 'Service', namespace: 'default', name: 'web' });
    const clusterIps = (found?.spec?.clusterIPs as readonly string[] | undefined) ?? [];
    expect(clusterIps).toEqual([expect.stringMatching(/^10\.96\./), expect.stringMatching(/^fd00:10:96:/)]);
    // The client resolves `web-ipv6` by CoreDNS; that name has an IPv6 address only.
    for (const host of [...web, ...clusterIps, 'web', 'web-ipv6']) {
      expect(await asked(host)).toEqual({ host, responses: ['web'] });
      logStep(host, 'answers');
    }
  },
  4 * minutes,
);
