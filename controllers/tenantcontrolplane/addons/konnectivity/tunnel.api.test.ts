import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { Manifest, Resource } from '../../../../api/meta.ts';
import { resolveTools } from '../../../../e2e/tools/resolve.ts';
import { kubeconfig } from '../../../../kubeadm/kubeconfig.ts';
import { issue } from '../../../../kubeadm/pki/issue.ts';
import { lifetimeFrom } from '../../../../kubeadm/pki/lifetime.ts';
import { parseVersion } from '../../../../kubeadm/versions.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { openCluster } from '../../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../../runtime/client/kubeconfig.ts';
import { konnectivityAddon } from '../../../../testing/builders/konnectivity-addon.ts';
import { answersOk } from '../../../../testing/servers/answers-ok.ts';
import { startApiServer } from '../../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../../testing/servers/api-server.ts';
import { freePorts } from '../../../../testing/servers/free-ports.ts';
import { loopbackPair, serverCa } from '../../../../testing/servers/server-certificates.ts';
import { serverFolder } from '../../../../testing/servers/server-folder.ts';
import type { ServerFolder } from '../../../../testing/servers/server-folder.ts';
import { startServerProcess } from '../../../../testing/servers/server-process.ts';
import type { ServerProcess } from '../../../../testing/servers/server-process.ts';
import { serviceAccountToken } from '../../../../testing/servers/service-account-token.ts';
import { startTcpProxy } from '../../../../testing/servers/tcp-proxy.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { konnectivityAgentManifests } from './agent-manifests.ts';
import { egressData, konnectivitySocket } from './egress-selector.ts';
import { konnectivityServerArguments } from './server-container.ts';
import { konnectivityLeaves, konnectivityUser } from './server-leaves.ts';

const tcp = tenantControlPlaneWith({
  deployment: { replicas: 1 },
  spec: { dataStore: 'default', addons: { konnectivity: konnectivityAddon() } },
});
const version = parseVersion('v1.36.3');
const endpoint = { address: '127.0.0.1', port: 6443, host: '127.0.0.1', hostPort: 6443 };
const podKey = { namespace: 'default', name: 'talks' };

let folder: ServerFolder;
let apiServer: ApiServer;
let cluster: Cluster;
let kubelet: Server;
let tunnel: Tunnel;

const at = (file: string): string => join(folder.path, file);

/** Our flags, with the paths and ports of this machine instead of the pod's. Throws for one that is not among them. */
function moved(flags: readonly string[], changes: Readonly<Record<string, string>>): string[] {
  for (const name of Object.keys(changes)) {
    if (!flags.some((flag) => flag.startsWith(`--${name}=`))) throw new Error(`there is no flag --${name}`);
  }
  return flags.map((flag) => {
    const name = flag.slice(2, flag.indexOf('='));
    return changes[name] === undefined ? flag : `--${name}=${changes[name]}`;
  });
}

/** Ports that proxy-server takes: no ephemeral ones. */
async function lowPorts(count: number): Promise<readonly number[]> {
  for (;;) {
    const found = (await freePorts(60)).filter((candidate) => candidate <= 49151);
    if (found.length >= count) return found.slice(0, count);
  }
}

/** Stands for a kubelet: answers for the logs of every container. */
async function startKubelet(): Promise<Server> {
  const pair = await loopbackPair(await serverCa('kubelet'), 'kubelet');
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    response.end(`the kubelet was asked for ${request.url ?? ''}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function startApiServerWithTunnel(): Promise<ApiServer> {
  const [configuration = ''] = Object.values(egressData());
  await writeFile(at('egress.yaml'), configuration.replace(konnectivitySocket, at('tunnel.socket')));
  return startApiServer({ flags: { 'egress-selector-config-file': at('egress.yaml') } });
}

async function createNodeAndPod(): Promise<void> {
  const { port: kubeletPort } = kubelet.address() as AddressInfo;
  await cluster.create(kinds.Node, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node' },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
    },
  });
  await cluster.create(kinds.Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: podKey,
    spec: { nodeName: 'node', containers: [{ name: 'main', image: 'none' }] },
  });
}

/** The objects that the tenant gets: the API server itself judges them. */
async function createAgentObjects(): Promise<void> {
  const kindOf = [kinds.ServiceAccount, kinds.ClusterRoleBinding, kinds.DaemonSet];
  const address = { host: endpoint.host, port: tunnel.port, byName: false };
  for (const manifest of konnectivityAgentManifests(tcp, { address, version })) {
    const kind = kindOf.find((candidate) => candidate.kind === manifest.kind);
    if (kind === undefined) throw new Error(`${manifest.kind} is not expected`);
    await cluster.create<Resource>(kind, manifest);
  }
}

async function writeServerFiles(): Promise<void> {
  const { profile } = konnectivityLeaves(tcp, endpoint)['konnectivity-server'];
  const ca = await serverCa('kubernetes');
  const lifetime = lifetimeFrom(new Date(), 60 * 60 * 1000);
  const pair = await issue(profile, ca, { algorithm: 'ECDSA-P256', lifetime });
  const client = await apiServer.clientPair(konnectivityUser);
  const config = { clusterName: 'kubernetes', server: apiServer.url, ca: apiServer.ca, user: konnectivityUser, client };
  await Promise.all([
    writeFile(at('ca.crt'), ca.certificate),
    writeFile(at('tls.crt'), pair.certificate),
    writeFile(at('tls.key'), pair.key, { mode: 0o600 }),
    writeFile(at('konnectivity-server.conf'), kubeconfig(config), { mode: 0o600 }),
  ]);
}

/** A konnectivity server; `name` is that of its socket and its log. */
interface Tunnel extends AsyncDisposable {
  readonly process: ServerProcess;
  /** For agents. */
  readonly port: number;
  /** True while it has an agent. */
  hasAgent(): Promise<boolean>;
}

async function startTunnel(name: string): Promise<Tunnel> {
  const tools = await resolveTools(['proxy-server']);
  const [port = 0, admin = 0, health = 0] = await lowPorts(3);
  const process = await startServerProcess({
    program: tools['proxy-server'],
    programArguments: moved(konnectivityServerArguments(tcp, port), {
      'admin-port': String(admin),
      'cluster-cert': at('tls.crt'),
      'cluster-key': at('tls.key'),
      'health-port': String(health),
      kubeconfig: at('konnectivity-server.conf'),
      'uds-name': at(`${name}.socket`),
    }),
    log: at(`${name}.log`),
  });
  await process.until(() => answersOk(`http://127.0.0.1:${health}/healthz`), 30_000);
  const hasAgent = (): Promise<boolean> => answersOk(`http://127.0.0.1:${health}/readyz`);
  return { process, port, hasAgent, [Symbol.asyncDispose]: () => process.kill() };
}

function agentArguments(port: number): readonly string[] {
  const address = { host: endpoint.host, port, byName: false };
  const workload = konnectivityAgentManifests(tcp, { address, version }).find(({ kind }) => kind === 'DaemonSet') as
    (Manifest & { readonly spec: { readonly template: { readonly spec: PodSpec } } }) | undefined;
  return workload?.spec.template.spec.containers[0]?.args ?? [];
}

interface PodSpec {
  readonly containers: readonly { readonly args: readonly string[] }[];
}

interface Agent extends AsyncDisposable {
  readonly process: ServerProcess;
  said(): Promise<string>;
}

async function startAgent(
  name: string,
  { audience, port = tunnel.port }: { readonly audience?: string; readonly port?: number },
): Promise<Agent> {
  const account = { namespace: 'kube-system', name: 'konnectivity-agent', audience };
  await writeFile(at(`${name}.token`), await serviceAccountToken(apiServer, account), { mode: 0o600 });
  const tools = await resolveTools(['proxy-agent']);
  const [admin = 0, health = 0] = await lowPorts(2);
  const process = await startServerProcess({
    program: tools['proxy-agent'],
    programArguments: moved(agentArguments(port), {
      'admin-server-port': String(admin),
      'ca-cert': at('ca.crt'),
      'health-server-port': String(health),
      'service-account-token-path': at(`${name}.token`),
    }),
    log: at(`${name}.log`),
  });
  return { process, said: () => readFile(at(`${name}.log`), 'utf8'), [Symbol.asyncDispose]: () => process.kill() };
}

const logs = (): Promise<string> => cluster.text(`/api/v1/namespaces/default/pods/${podKey.name}/log`);

const answers = (): Promise<boolean> =>
  logs().then(
    () => true,
    // What it says is asked for where it matters; here it is waited out.
    () => false,
  );

beforeAll(async () => {
  folder = await serverFolder();
  kubelet = await startKubelet();
  // Before there is anybody behind the socket: that must not keep it from starting.
  apiServer = await startApiServerWithTunnel();
  cluster = openCluster(parseKubeconfig(apiServer.kubeconfig), { name: 'tenant' });
  await writeServerFiles();
  tunnel = await startTunnel('tunnel');
  await createAgentObjects();
  await createNodeAndPod();
}, 180_000);

afterAll(async () => {
  await cluster.close();
  await tunnel[Symbol.asyncDispose]();
  await apiServer.stop();
  kubelet.close();
  await folder[Symbol.asyncDispose]();
}, 60_000);

describe('the tunnel of real programs, with the configuration, flags, keys and permissions of Steward', () => {
  test('carries requests of kube-apiserver to a kubelet, as long as there is an agent', async () => {
    await expect(logs()).rejects.toThrow(/No agent available/);
    const agent = await startAgent('agent', { audience: konnectivityUser });
    await agent.process.until(answers, 30_000);
    expect(await logs()).toBe('the kubelet was asked for /containerLogs/default/talks/main');
    await agent[Symbol.asyncDispose]();
    await tunnel.process.until(async () => !(await answers()), 30_000);
  }, 120_000);

  test('is closed to agents whose token is for another audience', async () => {
    await using agent = await startAgent('stranger', {});
    await agent.process.until(async () => (await agent.said()).includes('cannot connect once'), 30_000);
    expect(await readFile(at('tunnel.log'), 'utf8')).toMatch(/service account jwt not valid|lookup failed/);
    await expect(logs()).rejects.toThrow(/No agent available/);
  }, 60_000);

  test('has the agents of an old pod at a new one before the old one ends, although only one replica is wanted', async () => {
    await using service = await startTcpProxy(tunnel.port);
    await using agent = await startAgent('rolled', { audience: konnectivityUser, port: service.port });
    await agent.process.until(answers, 30_000);
    await using successor = await startTunnel('successor');
    service.turnTo(successor.port);
    await successor.process.until(() => successor.hasAgent(), 30_000);
    expect(await tunnel.hasAgent()).toBe(true);
    await agent.process.until(answers, 30_000);
  }, 120_000);
});
