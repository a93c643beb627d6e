import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import type { CertificateSigningRequest, Node } from '../../../../api/core/kinds.ts';
import type { KindRef, Manifest, Resource } from '../../../../api/meta.ts';
import { kubeconfig } from '../../../../kubeadm/kubeconfig.ts';
import { createIssuerPool } from '../../../../kubeadm/pki/issuer-pool.ts';
import type { KeyPair } from '../../../../kubeadm/pki/key-pair.ts';
import { systemClock } from '../../../../runtime/clock.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import { openCluster } from '../../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../../runtime/client/kubeconfig.ts';
import { silent } from '../../../../runtime/observe/logger.ts';
import { ChangeAlarm } from '../../../../tenants/change-alarm.ts';
import type { AlarmSelection } from '../../../../tenants/change-alarm.ts';
import { requestPem, signingRequest } from '../../../../testing/builders/serving-certificate-request.ts';
import type { Wanted } from '../../../../testing/builders/serving-certificate-request.ts';
import { startApiServer } from '../../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../../testing/servers/api-server.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { workerBootstrapAddon } from '../../../../testing/builders/worker-bootstrap-addon.ts';
import type { Endpoint } from '../../shared/control-plane-input.ts';
import { proxyKinds, proxyManifests } from '../tcp-proxy/proxy-manifests.ts';
import { nodeManifestKinds, nodeManifests } from './node-manifests.ts';
import { certificateRequests } from './certificate-requests-phase.ts';
import type { RequestsDependencies } from './certificate-requests-phase.ts';
import { addons } from '../registry.ts';
import { ReconcileCache } from '../../shared/reconcile-cache.ts';
import type { Authorities, Observed, Scope } from '../../scope.ts';
import { versionFacts } from '../../upgrade/version-facts.ts';

const tcp = tenantControlPlaneWith({
  spec: {
    dataStore: 'default',
    addons: {
      workerBootstrap: workerBootstrapAddon(),
      tcpProxy: { hostAliases: [{ ip: '192.0.2.7', hostnames: ['one.example.org'] }] },
    },
  },
});
const issuers = createIssuerPool(1);
const csrKind = kinds.CertificateSigningRequest;
const endpoint: Endpoint = { address: '192.0.2.7', port: 6443, host: '192.0.2.7', hostPort: 6443 };
const pair: KeyPair = { certificate: '', key: '' };
const authorities: Authorities = {
  ca: pair,
  frontProxyCa: pair,
  trusted: '',
  forOthers: { ca: pair, frontProxyCa: pair },
  bundled: { ca: false, frontProxyCa: false },
  serviceAccount: { publicKey: '', privateKey: '' },
  rotated: false,
};
const observed: Observed = {
  service: undefined,
  deployment: undefined,
  secrets: new Map(),
  dataStore: undefined,
  overrideStores: new Map(),
  refusals: new Map(),
};
const versions = versionFacts({ tcp });
const scope: Scope = { tcp, observed, versions, addons: {}, target: endpoint, endpoint, authorities };

let server: ApiServer;
let admin: Cluster;
let node: Cluster;
let heard: AlarmSelection | undefined;
const events: string[] = [];

/** One visit to the requests, with the real API server in place of the tenant's. */
async function reconcile(): Promise<Awaited<ReturnType<typeof certificateRequests>>> {
  const deps: RequestsDependencies = {
    clock: systemClock,
    addons,
    memory,
    issuers,
    renewBeforeMs: 0,
    cached: () => undefined,
    tenants: {
      client: () => admin,
      wakeOn: (_scope, selection) => void (heard = selection),
      sleepOn: () => undefined,
    },
  };
  const ctx: Context = {
    signal: new AbortController().signal,
    now: new Date(),
    log: silent,
    event: (_type, reason) => void events.push(reason),
  };
  return certificateRequests(scope, deps, ctx);
}

let memory: ReconcileCache;

async function ask(name: string, wanted: Wanted = {}): Promise<void> {
  await node.create(csrKind, signingRequest(name, await requestPem(wanted)));
}

async function saidOf(name: string): Promise<readonly string[]> {
  const found = await admin.get<CertificateSigningRequest>(csrKind, { name });
  return (found?.status?.conditions ?? []).map(({ type, reason }) => `${type} ${reason ?? ''}`);
}

beforeAll(async () => {
  // The flag of a tenant with a proxy, which a real program has to understand.
  server = await startApiServer({ rbac: false, flags: { 'endpoint-reconciler-type': 'none' } });
  admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'tenant' });
  const user = 'system:node:worker-1';
  const client = await server.clientPair(user, ['system:nodes']);
  const config = { clusterName: 'tenant', server: server.url, ca: server.ca, user, client };
  node = openCluster(parseKubeconfig(kubeconfig(config)), { name: 'tenant' });
  const worker: Manifest = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1' } };
  await admin.create<Node>(kinds.Node, worker);
  const addresses = [
    { type: 'Hostname', address: 'worker-1' },
    { type: 'InternalIP', address: '192.0.2.9' },
  ];
  const patch = { type: 'merge', body: { status: { addresses } } } as const;
  await admin.patch<Node>(kinds.Node, { name: 'worker-1' }, patch, { subresource: 'status' });
}, 180_000);

beforeEach(() => {
  memory = new ReconcileCache(new ObjectMemory());
});

afterAll(async () => {
  await Promise.all([admin.close(), node.close()]);
  await server.stop();
}, 60_000);

describe('a real API server', () => {
  test('accepts the approval of a request that matches its node, and leaves the others as they are', async () => {
    await ask('csr-fits');
    await ask('csr-foreign', { dnsNames: ['worker-2'] });
    const outcome = await reconcile();
    expect(await saidOf('csr-fits')).toEqual(['Approved StewardAutoApproved']);
    expect(await saidOf('csr-foreign')).toEqual([]);
    expect(outcome).toMatchObject({
      is: 'done',
      learned: { addons: { workerBootstrap: { requestsLeft: { count: 1, first: [{ name: 'csr-foreign' }] } } } },
    });
    expect(events).toEqual(['CertificateRequestsApproved']);
  });

  test('reports a new request through the watch, and it is then approved', async () => {
    await reconcile();
    if (heard === undefined) throw new Error('nothing is waited for');
    const rung = Promise.withResolvers<undefined>();
    const alarm = new ChangeAlarm(systemClock, new ObjectMemory());
    const selection = heard;
    alarm.arm('uid', admin, {
      selection,
      notify: () => {
        rung.resolve(undefined);
      },
    });
    await ask('csr-new');
    await rung.promise;
    await reconcile();
    expect(await saidOf('csr-new')).toEqual(['Approved StewardAutoApproved']);
    alarm.disarm('uid');
  }, 30_000);

  test('lists many requests page by page, and all of them are checked', async () => {
    const pem = await requestPem({ dnsNames: ['worker-2'] });
    const names = Array.from({ length: 230 }, (_, at) => `many-${String(at).padStart(3, '0')}`);
    for (let at = 0; at < names.length; at += 10) {
      await Promise.all(names.slice(at, at + 10).map((name) => node.create(csrKind, signingRequest(name, pem))));
    }
    await ask('z-last');
    let reconciles = 0;
    let outcome = await reconcile();
    while (outcome.is === 'done' && outcome.learned === undefined && reconciles < 10) {
      reconciles += 1;
      outcome = await reconcile();
    }
    expect(reconciles).toBe(2);
    expect(await saidOf('z-last')).toEqual(['Approved StewardAutoApproved']);
  }, 60_000);

  test('refuses an approval that comes too late', async () => {
    await ask('csr-late');
    const read = await admin.get<CertificateSigningRequest>(csrKind, { name: 'csr-late' });
    const condition = { type: 'Denied', status: 'True', reason: 'Person' };
    const deny = { type: 'merge', body: { status: { conditions: [condition] } } } as const;
    await admin.patch(csrKind, { name: 'csr-late' }, deny, { subresource: 'approval' });
    const { uid, resourceVersion } = read?.metadata ?? {};
    const body = { metadata: { uid, resourceVersion }, status: { conditions: [{ ...condition, type: 'Approved' }] } };
    const late = admin.patch(csrKind, { name: 'csr-late' }, { type: 'merge', body }, { subresource: 'approval' });
    await expect(late).rejects.toMatchObject({ code: 409 });
  });

  const upstream = { host: 'one.example.org', port: 443, endsTls: true };
  const tls = { pair: { certificate: 'a', key: 'b' }, authority: 'c' };
  test.each<[string, readonly Manifest[], readonly KindRef[]]>([
    ['workers of Talos need', nodeManifests(tcp), nodeManifestKinds],
    ['a proxy is made of', proxyManifests({ tcp, upstream, tls }), proxyKinds],
  ])('stores all that %s, and nothing changes the second time', async (_what, manifests, among) => {
    for (const manifest of manifests) {
      const kind = among.find((one) => one.kind === manifest.kind);
      if (kind === undefined) throw new Error(`${manifest.kind} is not expected`);
      const apply = (): Promise<Resource> => admin.apply(kind, manifest, { fieldManager: 'test' });
      const [first, second] = [await apply(), await apply()];
      expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    }
  });
});
