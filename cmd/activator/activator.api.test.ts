import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer as createTlsServer } from 'node:tls';
import type { Server } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { EndpointSlice, Service } from '../../api/core/kinds.ts';
import { activatorObjects, labels, ports } from '../../api/names.ts';
import { ActivatorPorts } from '../../controllers/tenantcontrolplane/sleep/waking/activator-ports.ts';
import { activatorSlices } from '../../controllers/tenantcontrolplane/sleep/waking/activator-slices.ts';
import { WakeRequestsOf } from '../../controllers/tenantcontrolplane/sleep/waking/wake-requests-of.ts';
import { without } from '../../controllers/tenantcontrolplane/shared/without.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { patient } from '../../testing/patient.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import type { ApiServer } from '../../testing/servers/api-server.ts';
import { startControlPlanePrograms } from '../../testing/servers/control-plane/programs.ts';
import { loopbackPair, serverCa } from '../../testing/servers/server-certificates.ts';
import { ownAddress } from '../../testing/builders/own-address.ts';
import { activatorAccess, activatorNamespaceAccess } from './activator-access.ts';
import { readActivatorSettings, startActivator } from './activator.ts';
import type { RunningActivator } from './activator.ts';

// An API server with the controller of EndpointSlices, and an activator with the rights that it declares and no others.
const namespace = 'steward-system';
const long = 120_000;
const group = 'rbac.authorization.k8s.io';

let server: ApiServer;
let programs: AsyncDisposable;
let manager: Cluster;
let activatorClient: Cluster;
let activator: RunningActivator;
let informers: InformerFactory;
let pod: Server;
let ca: string;
const signal = AbortSignal.timeout(patient(10 * long));

async function grantActivator(): Promise<void> {
  const named = (kind: string, more: object, at?: string) => ({
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name: 'activator', ...(at !== undefined && { namespace: at }) },
    ...more,
  });
  const subjects = [{ apiGroup: group, kind: 'User', name: 'activator' }];
  const ref = (kind: string) => ({ apiGroup: group, kind, name: 'activator' });
  await manager.create(kinds.ClusterRole, named('ClusterRole', { rules: activatorAccess }));
  await manager.create(kinds.Role, named('Role', { rules: activatorNamespaceAccess }, namespace));
  const everywhere = { roleRef: ref('ClusterRole'), subjects };
  await manager.create(kinds.ClusterRoleBinding, named('ClusterRoleBinding', everywhere));
  await manager.create(kinds.RoleBinding, named('RoleBinding', { roleRef: ref('Role'), subjects }, namespace));
}

beforeAll(async () => {
  server = await startApiServer();
  const client = async (user: string, groups: readonly string[] = []): Promise<Cluster> => {
    const { certificate, key } = await server.clientPair(user, groups);
    return openCluster(
      { server: server.url, ca: server.ca, clientCert: certificate, clientKey: key },
      { name: 'management' },
    );
  };
  manager = await client('manager', ['system:masters']);
  activatorClient = await client('activator');
  programs = await startControlPlanePrograms(server);
  for (const name of [namespace, 'tenants'])
    await manager.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  // The controller leaves out pods on nodes that do not exist.
  await manager.create(kinds.Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } });
  await grantActivator();
  informers = new InformerFactory({ cluster: manager });
  const authority = await serverCa('ca of the tenant');
  ca = authority.certificate;
  const pair = await loopbackPair(authority, 'kube-apiserver', ['kubernetes']);
  pod = createTlsServer({ cert: pair.certificate, key: pair.key }, (socket) => socket.end('answered'));
  pod.listen(0, '0.0.0.0');
  await once(pod, 'listening');
  const settings = readActivatorSettings(
    [`--pod-namespace=${namespace}`, '--health-probe-bind-address=127.0.0.1:0'],
    {},
  );
  activator = await startActivator(activatorClient, settings, silent);
  await activator.ready;
}, long);

afterAll(async () => {
  await activator.close();
  await informers.close();
  await Promise.all([manager.close(), activatorClient.close()]);
  pod.close();
  await programs[Symbol.asyncDispose]();
  await server.stop();
}, long);

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;

/** Whether something is allowed; other errors are thrown. */
async function allowed(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (codeOf(error) === 403) return false;
    throw error;
  }
}

// These tenants are not in the API server.
const leftovers = { isDue: () => false, find: () => Promise.resolve([]) };

const portsOf = (): ActivatorPorts => new ActivatorPorts({ cluster: manager, informers, namespace, leftovers });

/** Calls at a port of the activator as soon as it listens there, and returns the answer. */
async function call(port: number): Promise<string> {
  for (;;) {
    const socket = connect({ host: '127.0.0.1', port, ca, servername: 'kubernetes' });
    try {
      let text = '';
      for await (const chunk of socket) text += String(chunk);
      return text;
    } catch (error) {
      if (codeOf(error) !== 'ECONNREFUSED') throw error;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

describe('The activator beside a real API server', () => {
  test(
    'requests the wake of a tenant, and passes the call on to the pod that the controller of EndpointSlices has found',
    async () => {
      const tcp = tenantControlPlaneWith({ metadata: { name: 'shop', namespace: 'tenants', uid: 'uid-of-shop' } });
      const { port = 0 } = await portsOf().claim({ ...tcp.metadata, recorded: undefined }, signal);
      const own = { [labels.name]: 'shop', [labels.component]: 'service' };
      const service: Service = await manager.create(kinds.Service, {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'shop', namespace: 'tenants', labels: own },
        spec: {
          selector: { [labels.name]: 'shop' },
          ports: [{ name: ports.apiServer, port: 6443, targetPort: (pod.address() as AddressInfo).port }],
        },
      });
      const [slice] = activatorSlices(tcp, { service, port, pods: [{ addresses: [ownAddress()] }] });
      if (slice === undefined) throw new Error('there is no slice');
      const metadata = without(slice.metadata, 'ownerReferences');
      await manager.apply(kinds.EndpointSlice, { ...slice, metadata }, { fieldManager: 'steward' });
      const requests = new WakeRequestsOf({ cluster: manager, informers, namespace, clock: systemClock });
      requests.isCalled(tcp.metadata, new Date());
      await informers.synced();
      const answer = call(port);
      while (!requests.isCalled(tcp.metadata, new Date())) await new Promise((resolve) => setImmediate(resolve));
      const template = { name: 'shop-1', namespace: 'tenants', labels: { [labels.name]: 'shop' } };
      const container = { name: 'kube-apiserver', image: 'none' };
      await manager.create(kinds.Pod, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: template,
        spec: { nodeName: 'node-1', containers: [container] },
      });
      const ip = ownAddress();
      const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: 'True' }] };
      const key = { name: 'shop-1', namespace: 'tenants' };
      await manager.patch(kinds.Pod, key, { type: 'merge', body: { status } }, { subresource: 'status' });
      expect(await answer).toBe('answered');
      const { items } = await manager.list<EndpointSlice>(kinds.EndpointSlice, { namespace: 'tenants' });
      expect(items.map(({ endpoints }) => (endpoints ?? []).length)).toEqual([1, 1]);
      await requests.clear(tcp.metadata, new Date(), signal);
      const left = await manager.get(kinds.ConfigMap, { namespace, name: activatorObjects.wakeRequests });
      expect(left?.data ?? {}).toEqual({});
    },
    long,
  );

  test('may see slices and its table, patch one ConfigMap, and do nothing else', async () => {
    const patch = (name: string) =>
      activatorClient.patch(kinds.ConfigMap, { namespace, name }, { type: 'merge', body: { data: { a: 'b' } } });
    const by = { kind: kinds.ConfigMap, namespace, fieldSelector: `metadata.name=${activatorObjects.ports}` };
    expect({
      slices: await allowed(activatorClient.list(kinds.EndpointSlice)),
      table: await allowed(activatorClient.list(by.kind, by)),
      request: await allowed(patch(activatorObjects.wakeRequests)),
    }).toEqual({ slices: true, table: true, request: true });
    expect({
      'another ConfigMap': await allowed(patch('others')),
      'the table': await allowed(patch(activatorObjects.ports)),
      'the requests of others': await allowed(
        activatorClient.get(kinds.ConfigMap, { namespace, name: activatorObjects.wakeRequests }),
      ),
      'all ConfigMaps': await allowed(activatorClient.list(kinds.ConfigMap, { namespace })),
      Secrets: await allowed(activatorClient.list(kinds.Secret)),
      Pods: await allowed(activatorClient.list(kinds.Pod)),
    }).toEqual({
      'another ConfigMap': false,
      'the table': false,
      'the requests of others': false,
      'all ConfigMaps': false,
      Secrets: false,
      Pods: false,
    });
  });

  test('has another port for each of many tenants that are given theirs at once', async () => {
    const [one, other] = [portsOf(), portsOf()];
    const given = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? one : other).claim(
          { namespace: 'tenants', name: `many-${index}`, uid: `uid-${index}`, recorded: undefined },
          signal,
        ),
      ),
    );
    expect(new Set(given.map(({ port }) => port)).size).toBe(12);
    const recorded = given[3]?.port;
    const again = await portsOf().claim({ namespace: 'tenants', name: 'many-3', uid: 'uid-3', recorded }, signal);
    expect(again).toEqual(given[3]);
  });

  test('has slices that may be empty', async () => {
    const tcp = tenantControlPlaneWith({ metadata: { name: 'idle', namespace: 'tenants', uid: 'uid-of-idle' } });
    const service = await manager.create(kinds.Service, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'idle', namespace: 'tenants' },
      spec: { selector: { [labels.name]: 'idle' }, ports: [{ name: ports.apiServer, port: 6443 }] },
    });
    for (const slice of activatorSlices(tcp, { service, port: 20_001, pods: [] })) {
      const metadata = without(slice.metadata, 'ownerReferences');
      const stored = await manager.apply(kinds.EndpointSlice, { ...slice, metadata }, { fieldManager: 'steward' });
      expect(stored.endpoints ?? []).toEqual([]);
    }
  });
});
