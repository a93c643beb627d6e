import { readFile, writeFile } from 'node:fs/promises';
import { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { moduleFolder } from '../../../../e2e/tools/module-folder.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import { gateway, gatewayGroup, tlsRoutes as routeKinds } from '../../../../api/gateway-api/kinds.ts';
import type { TlsRoute } from '../../../../api/gateway-api/kinds.ts';
import type { KindRef, Manifest, Resource } from '../../../../api/meta.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ingressRouteTcp as traefikKind } from '../../../../api/traefik/kinds.ts';
import { kubeconfig } from '../../../../kubeadm/kubeconfig.ts';
import { joinHostPort } from '../../../../kubeadm/networks.ts';
import { issue, issueCa } from '../../../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../../../kubeadm/pki/key-pair.ts';
import { certificateValidityMs, lifetimeFrom } from '../../../../kubeadm/pki/lifetime.ts';
import { authorityProfiles, leafProfiles } from '../../../../kubeadm/pki/profiles.ts';
import { systemClock } from '../../../../runtime/clock.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { UnreachableError } from '../../../../runtime/client/errors.ts';
import { openCluster } from '../../../../runtime/client/http-cluster.ts';
import { messageOf } from '../../../../runtime/reconcile/conditions.ts';
import { InformerFactory } from '../../../../runtime/cache/informer-factory.ts';
import { parseKubeconfig } from '../../../../runtime/client/kubeconfig.ts';
import { silent } from '../../../../runtime/observe/logger.ts';
import { runPhases, definePhases } from '../../../../runtime/reconcile/run-phases.ts';
import { TenantPool } from '../../../../tenants/pool.ts';
import { FakeCluster } from '../../../../testing/fake/fake-cluster.ts';
import { patient } from '../../../../testing/patient.ts';
import { grantUser } from '../../../../testing/servers/grant-user.ts';
import { installKinds } from '../../../../testing/servers/install-kinds.ts';
import { startApiServer } from '../../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../../testing/servers/api-server.ts';
import { serverFolder } from '../../../../testing/servers/server-folder.ts';
import { startSniRouter } from '../../../../e2e/cluster/network/sni-router.ts';
import type { SniRouter } from '../../../../e2e/cluster/network/sni-router.ts';
import { access } from '../../access.ts';
import type { Endpoint } from '../../shared/control-plane-input.ts';
import { ingress, ingressRouteTcp } from './ingress.ts';
import { publicationOf } from './exposure.ts';
import type { Publication } from './exposure.ts';
import { konnectivityServer } from '../../addons/konnectivity/konnectivity-server.ts';
import { certificateNames } from '../../certificates/certificate-names.ts';
import { silentControllerMs } from './route-switch.ts';
import { tlsRoutes } from './tls-routes.ts';
import { createDependencies } from '../../create-dependencies.ts';
import type { Dependencies } from '../../dependencies.ts';
import { tenantControlPlanePhases } from '../../recipe.ts';
import { needed } from '../../scope.ts';
import type { Scope } from '../../scope.ts';
import { tenantControlPlaneWatches } from '../../watches.ts';
import { versionFacts } from '../../upgrade/version-facts.ts';

const [v1, v1alpha3] = routeKinds;
if (v1 === undefined || v1alpha3 === undefined) throw new Error('a version of TLSRoute is missing');

const user = 'tenant-controller';
const namespace = 'published';
const host = 'tenant.k8s.example.org';
const limitMs = 40_000;
const ports = { apiServer: 6443, servers: [{ server: konnectivityServer, port: 8132 }] };
const byGateway = { gateway: { hostname: host, parentRefs: [{ name: 'gw' }] } };
const byIngress = { ingress: { hostname: host, ingressClassName: 'public', controllerType: 'nginx' } };
const byTraefik = { ingress: { hostname: host, controllerType: 'traefik' } };

/** The same way under a host name of its own, since two tenants cannot have one. */
const named = (hostname: string, by: Readonly<Record<string, object>>): object =>
  Object.fromEntries(Object.entries(by).map(([way, spec]) => [way, { ...spec, hostname }]));

let server: ApiServer;
let admin: Cluster;
let operator: Cluster;
let informers: InformerFactory;
let pool: TenantPool;
let deps: Dependencies;

beforeAll(async () => {
  server = await startApiServer();
  const connection = parseKubeconfig(server.kubeconfig);
  admin = openCluster(connection, { name: 'management' });
  const pair = await server.clientPair(user);
  operator = openCluster({ ...connection, clientCert: pair.certificate, clientKey: pair.key }, { name: 'management' });
  await installKinds(admin, [tenantControlPlane]);
  await grantUser(admin, user, access);
  await admin.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  informers = new InformerFactory({ cluster: operator });
  const unused = (): Promise<never> => Promise.reject(new Error('no store is needed'));
  pool = new TenantPool({ memory: new ObjectMemory(), clock: systemClock, open: () => new FakeCluster() });
  const stores = { open: unused, openTogether: unused, capabilities: () => undefined };
  deps = createDependencies({
    memory: new ObjectMemory(),
    cluster: operator,
    informers,
    clock: systemClock,
    stores,
    pool,
  });
  for (const watch of tenantControlPlaneWatches(informers, '')) {
    const { kind, labelSelector = '', metadataOnly, identityOnly, optional } = watch;
    if (labelSelector === '' && identityOnly !== true) continue;
    const how = { kind, ...(labelSelector !== '' && { labelSelector }), ...(optional === true && { optional }) };
    informers.informer({ ...how, ...(metadataOnly && { metadataOnly }), ...(identityOnly && { identityOnly }) });
  }
}, 180_000);

afterAll(async () => {
  await informers.close();
  await pool.close();
  await Promise.all([admin.close(), operator.close()]);
  await server.stop();
}, 60_000);

/** Installs definitions as their project publishes them. */
async function install(module: Parameters<typeof moduleFolder>[0], ...files: readonly string[]): Promise<void> {
  const folder = await moduleFolder(module);
  for (const file of files) {
    const definition = parse(await readFile(join(folder, file), 'utf8')) as Manifest;
    await admin.apply(kinds.CustomResourceDefinition, definition, { fieldManager: 'test' });
  }
}

/** Tries until it succeeds: neither the API server nor an informer reports when a kind is served. */
async function until<T>(what: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + patient(limitMs);
  for (;;) {
    const found = await what();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error('it did not come to pass in time');
    await pause(50);
  }
}

/** The result of a reconcile for the endpoint: True, or the reason and message of the first phase that is not done. */
async function reconcile(name: string): Promise<{ readonly said: string; readonly scope: Readonly<Scope> }> {
  const found = await tenant(name);
  // The documents inside have contained the endpoint for a while.
  const bootstrapToken = { checksum: 'told', lastUpdate: '2020-01-01T00:00:00Z' };
  const tcp = { ...found, status: { ...found.status, kubeadmPhase: { bootstrapToken } } };
  const wanted = new Set(['service', 'exposure', 'publication', 'endpoint', 'unpublication']);
  const phases = tenantControlPlanePhases(deps).filter((phase) => wanted.has(phase.name));
  const alone = phases.map((phase) => ({ ...phase, needs: (phase.needs ?? []).filter((need) => wanted.has(need)) }));
  const service = await operator.get(kinds.Service, { namespace, name });
  const observed = {
    service,
    deployment: undefined,
    secrets: new Map(),
    dataStore: undefined,
    overrideStores: new Map(),
    refusals: new Map(),
  };
  const signal = AbortSignal.timeout(patient(limitMs));
  // Controllers without a status have had their minute.
  const now = new Date(systemClock.now().getTime() + silentControllerMs + 1000);
  const context = { signal, now, log: silent, event: () => undefined };
  const scope = { tcp, observed, versions: versionFacts({ tcp }), addons: {}, bootstrapChecksum: 'told' };
  const report = await runPhases<Scope>(definePhases(alone), scope, context);
  const line = report.lines.find(({ phase, outcome }) => phase.condition === 'EndpointReady' && outcome?.is !== 'done');
  const { outcome, error } = line ?? {};
  if (error !== undefined) throw new Error(messageOf(error), { cause: error });
  return { said: outcome?.is === 'waiting' ? `${outcome.reason}: ${outcome.message}` : 'True', scope: report.scope };
}

async function create(name: string, by: object): Promise<void> {
  await admin.create(tenantControlPlane, {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: { name, namespace },
    spec: {
      dataStore: 'default',
      controlPlane: {
        service: {
          serviceType: 'ClusterIP',
          additionalPorts: [{ name: 'konnectivity-server', port: 8132, targetPort: 8132 }],
        },
        ...by,
      },
      kubernetes: { version: 'v1.36.3' },
    },
  });
}

async function change(name: string, by: object): Promise<void> {
  const body = { spec: { controlPlane: { ingress: null, gateway: null, ...by } } };
  await admin.patch(tenantControlPlane, { namespace, name }, { type: 'merge', body });
}

async function tenant(name: string): Promise<TenantControlPlane> {
  const found = await admin.get(tenantControlPlane, { namespace, name });
  if (found === undefined) throw new Error(`TenantControlPlane ${name} is gone`);
  return found;
}

async function publicationFor(name: string): Promise<readonly [TenantControlPlane, Publication]> {
  const tcp = await tenant(name);
  const publication = publicationOf(tcp, ports.apiServer);
  if (publication === undefined) throw new Error(`${name} is not published`);
  return [tcp, publication];
}

/** Sees that the object is stored with everything that was sent. */
async function expectStored<T extends Resource>(kind: KindRef<T>, manifest: Manifest | undefined): Promise<T> {
  const name = manifest?.metadata.name ?? '';
  const stored = await admin.get(kind, { namespace, name });
  expect(stored).toMatchObject({ spec: manifest?.spec, metadata: manifest?.metadata });
  if (stored === undefined) throw new Error(`${kind.kind} ${name} is not there`);
  return stored;
}

describe('Routes on a real API server', () => {
  test('of kinds that are not installed are reported as missing, and others are not delayed', async () => {
    await create('by-gateway', byGateway);
    await create('by-ingress', named('ingress.k8s.example.org', byIngress));
    await create('by-traefik', named('traefik.k8s.example.org', byTraefik));
    await informers.synced();
    expect((await reconcile('by-gateway')).said).toContain('KindNotInstalled: this cluster has no kind TLSRoute');
    expect((await reconcile('by-traefik')).said).toContain(
      'KindNotInstalled: this cluster has no kind IngressRouteTCP',
    );
    expect((await reconcile('by-ingress')).said).toBe('True');
  });

  test('of Ingress are stored as they were sent', async () => {
    const [tcp, publication] = await publicationFor('by-ingress');
    await expectStored(kinds.Ingress, ingress(tcp, publication, { ports }));
  });

  test('of Gateway API 1.4 are stored as they were sent, in the version that it serves', async () => {
    await install(
      'gateway-api-1.4',
      `config/crd/experimental/${gatewayGroup}_tlsroutes.yaml`,
      `config/crd/experimental/${gatewayGroup}_gateways.yaml`,
    );
    await until(async () => {
      informers.lookAgain(gatewayGroup);
      return (await reconcile('by-gateway')).said.startsWith('RouteNotAccepted') ? true : undefined;
    });
    expect(deps.isServed(v1)).toBe(false);
    const [tcp, publication] = await publicationFor('by-gateway');
    const manifests = tlsRoutes(tcp, publication, { ports, kind: v1alpha3 });
    expect(manifests).toHaveLength(2);
    for (const manifest of manifests) await expectStored(v1alpha3, manifest);
  });

  test('stay the same when Gateway API is upgraded to one that serves v1 only', async () => {
    const before = await admin.get(v1alpha3, { namespace, name: 'by-gateway' });
    await install(
      'gateway-api',
      `config/crd/standard/${gatewayGroup}_tlsroutes.yaml`,
      `config/crd/standard/${gatewayGroup}_gateways.yaml`,
    );
    const [tcp, publication] = await publicationFor('by-gateway');
    const [manifest, agents] = tlsRoutes(tcp, publication, { ports, kind: v1 });
    await until(async () => {
      informers.lookAgain(gatewayGroup);
      const { said } = await reconcile('by-gateway').catch(() => ({ said: '' }));
      const stored = await admin.get(v1, { namespace, name: 'by-gateway' });
      return said.startsWith('RouteNotAccepted') && stored !== undefined ? true : undefined;
    });
    const after = await expectStored(v1, manifest);
    await expectStored(v1, agents);
    expect(after.metadata.uid).toBe(before?.metadata.uid);
  });

  test('are reported as waiting until the Gateway has accepted them', async () => {
    const parentRef = { group: gatewayGroup, kind: 'Gateway', name: 'gw', port: 6443, sectionName: 'kube-apiserver' };
    const at = { lastTransitionTime: '2030-01-01T00:00:00Z', message: '' };
    const word = { ...at, type: 'Accepted', status: 'True', reason: 'Accepted', observedGeneration: 1 };
    const parents = [{ parentRef, controllerName: 'example.org/gateways', conditions: [word] }];
    const patch = (body: object) => ({ type: 'merge', body }) as const;
    const key = { namespace, name: 'by-gateway' };
    await admin.patch(v1, key, patch({ status: { parents } }), { subresource: 'status' });
    await admin.create(gateway, {
      apiVersion: `${gatewayGroup}/v1`,
      kind: 'Gateway',
      metadata: { name: 'gw', namespace },
      spec: {
        gatewayClassName: 'test',
        listeners: [
          { name: 'kube-apiserver', port: 6443, protocol: 'TLS', tls: { mode: 'Passthrough' }, hostname: host },
        ],
      },
    });
    const listens = { ...at, type: 'Programmed', status: 'True', reason: 'Programmed', observedGeneration: 1 };
    const conditions = { status: { conditions: [listens] } };
    await admin.patch(gateway, { namespace, name: 'gw' }, patch(conditions), { subresource: 'status' });
    const { scope } = await until(async () => {
      const done = await reconcile('by-gateway');
      return done.said === 'True' ? done : undefined;
    });
    expect(scope.endpoint).toMatchObject({ host, hostPort: 6443 });
    expect(scope.publication?.status.gateway).toMatchObject({
      parents: [{ parentRef, controllerName: 'example.org/gateways', conditions: [{ type: 'Accepted' }] }],
      accessPoints: [{ value: `https://${host}:6443`, port: 6443 }],
    });
    // The CRD stores what the status contains.
    const status = { kubernetesResources: { gateway: scope.publication?.status.gateway } };
    await admin.patch(tenantControlPlane, key, patch({ status }), { subresource: 'status' });
    expect((await tenant('by-gateway')).status?.kubernetesResources?.gateway).toEqual(
      scope.publication?.status.gateway,
    );
  });

  test('of Traefik are stored as they were sent', async () => {
    await install('traefik', 'docs/content/reference/dynamic-configuration/traefik.io_ingressroutetcps.yaml');
    await until(async () => {
      informers.lookAgain(traefikKind.group);
      return (await reconcile('by-traefik')).said === 'True' ? true : undefined;
    });
    const [tcp, publication] = await publicationFor('by-traefik');
    await expectStored(traefikKind, ingressRouteTcp(tcp, publication, { ports }));
  });

  test.each<[string, string, object, readonly KindRef[]]>([
    ['a Gateway to nothing', 'by-gateway', {}, [v1]],
    ['nothing to Traefik', 'by-gateway', byTraefik, []],
    ['Traefik to an Ingress', 'by-gateway', byIngress, [traefikKind]],
    ['an Ingress to a Gateway', 'by-gateway', byGateway, [kinds.Ingress]],
  ])('of a previous exposure are removed: from %s', async (_words, name, by, gone) => {
    await change(name, by);
    await until(async () => {
      await reconcile(name);
      if (by === byGateway) await acceptRoutes(v1, name);
      const left = await Promise.all(gone.map((kind) => admin.get(kind, { namespace, name })));
      return left.every((object) => object === undefined) ? true : undefined;
    });
    const route = await admin.get<TlsRoute>(v1, { namespace, name: `${name}-konnectivity` });
    expect(route !== undefined).toBe(by === byGateway);
  });
});

/** What a controller of Gateways says of both routes. */
async function acceptRoutes(kind: KindRef<TlsRoute>, name: string): Promise<void> {
  for (const route of [name, `${name}-konnectivity`]) {
    const found = await admin.get(kind, { namespace, name: route });
    const [parentRef] = found?.spec?.parentRefs ?? [];
    const said = { type: 'Accepted', status: 'True', reason: 'Accepted', message: '' };
    const at = { lastTransitionTime: '2030-01-01T00:00:00Z', observedGeneration: found?.metadata.generation };
    const parents = [{ parentRef, controllerName: 'example.org/gateways', conditions: [{ ...said, ...at }] }];
    const body = { status: { parents } };
    await admin.patch(kind, { namespace, name: route }, { type: 'merge', body }, { subresource: 'status' });
  }
}

/** Where the stored routes of a tenant lead, as their controllers understand them: host names and ports of its Service. */
async function storedRules(name: string): Promise<readonly (readonly [host: string, port: number])[]> {
  const key = { namespace, name };
  const [byHttp, bySni, byTls] = await Promise.all([
    admin.get(kinds.Ingress, key),
    admin.get<Resource & { spec: TraefikSpec }>(traefikKind as KindRef<Resource & { spec: TraefikSpec }>, key),
    admin.get<TlsRoute & { spec: TlsSpec }>(v1 as KindRef<TlsRoute & { spec: TlsSpec }>, key),
  ]);
  const passes = byHttp?.metadata.annotations?.['nginx.ingress.kubernetes.io/ssl-passthrough'] === 'true';
  return [
    ...(passes ? (byHttp.spec?.rules ?? []) : []).map(
      ({ host: rule = '', http }) => [rule, http?.paths[0]?.backend.service?.port?.number ?? 0] as const,
    ),
    ...(bySni?.spec.tls.passthrough === true ? bySni.spec.routes : []).map(
      ({ match, services }) => [/^HostSNI\(`(.+)`\)$/.exec(match)?.[1] ?? '', services[0]?.port ?? 0] as const,
    ),
    ...(byTls?.spec.hostnames ?? []).map((rule) => [rule, byTls?.spec.rules[0]?.backendRefs[0]?.port ?? 0] as const),
  ];
}

interface TraefikSpec {
  readonly tls: { readonly passthrough: boolean };
  readonly routes: readonly { readonly match: string; readonly services: readonly { readonly port: number }[] }[];
}

interface TlsSpec {
  readonly hostnames: readonly string[];
  readonly rules: readonly { readonly backendRefs: readonly { readonly port: number }[] }[];
}

describe('A control plane behind a proxy that routes by SNI', () => {
  const name = 'behind';
  const own = 'behind.k8s.example.org';
  let behind: ApiServer;
  let router: SniRouter;
  let ca: KeyPair;
  let folder: Awaited<ReturnType<typeof serverFolder>>;

  beforeAll(async () => {
    await create(name, named(own, byIngress));
    folder = await serverFolder();
    const { scope } = await reconcile(name);
    const endpoint = needed(scope.endpoint, 'endpoint');
    const algorithm = 'ECDSA-P256';
    const lifetime = lifetimeFrom(new Date(), certificateValidityMs);
    ca = await issueCa(authorityProfiles.ca, { algorithm, lifetime });
    const { serviceCidr, clusterDomain } = scope.tcp.spec.networkProfile;
    const { apiserver } = leafProfiles({
      serviceCidr,
      clusterDomain,
      advertiseAddress: endpoint.address,
      controlPlaneEndpoint: joinHostPort(endpoint.host, endpoint.hostPort),
      certSANs: certificateNames({ tcp: scope.tcp, endpoint, addons: [] }),
    });
    const pair = await issue(apiserver.profile, ca, { algorithm, lifetime });
    const [certificate, key] = [join(folder.path, 'apiserver.crt'), join(folder.path, 'apiserver.key')];
    await Promise.all([writeFile(certificate, pair.certificate), writeFile(key, pair.key, { mode: 0o600 })]);
    // The test's own client uses the certificate of the loopback address.
    behind = await startApiServer({ flags: { 'tls-sni-cert-key': `${certificate},${key}:${own}` } });
    router = await startSniRouter();
  }, 120_000);

  afterAll(async () => {
    await router[Symbol.asyncDispose]();
    await behind.stop();
    await folder[Symbol.asyncDispose]();
  });

  /** The user that the API server sees for a kubeconfig, through the router. */
  async function whoAmI(endpoint: Endpoint): Promise<string> {
    const client = await behind.clientPair('somebody');
    const server = `https://${joinHostPort(endpoint.host, endpoint.hostPort)}`;
    const text = kubeconfig({ clusterName: name, server, ca: ca.certificate, user: 'somebody', client });
    const dial = { host: '127.0.0.1', port: router.port };
    const access = openCluster({ ...parseKubeconfig(text), dial }, { name: 'tenant' });
    try {
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: { name: '' } };
      const answer = await access.create<Resource & { status: { userInfo: { username: string } } }>(
        {
          group: 'authentication.k8s.io',
          version: 'v1',
          kind: review.kind,
          plural: 'selfsubjectreviews',
          namespaced: false,
        },
        review,
      );
      return answer.status.userInfo.username;
    } finally {
      await access.close();
    }
  }

  test.each<[string, Readonly<Record<string, object>>, number]>([
    ['an Ingress', byIngress, 443],
    ['Traefik', byTraefik, 443],
    ['a Gateway', byGateway, 6443],
  ])('answers a kubeconfig of its endpoint, and gets the client’s certificate: %s', async (_words, by, port) => {
    await change(name, named(own, by));
    const endpoint = needed((await reconcile(name)).scope.endpoint, 'endpoint');
    expect(endpoint).toMatchObject({ host: own, hostPort: port });
    router.route(new Map());
    await expect(whoAmI(endpoint)).rejects.toThrow(UnreachableError);
    const target = Number(new URL(behind.url).port);
    const toApiServer = await until(async () => {
      await reconcile(name);
      const found = (await storedRules(name)).filter(([, to]) => to === ports.apiServer);
      // The route of the way before may still be there; it leads the same name.
      return found.length > 0 && found.every(([rule]) => rule === own) ? found : undefined;
    });
    router.route(new Map(toApiServer.map(([rule]) => [rule, { host: '127.0.0.1', port: target }])));
    expect(await whoAmI(endpoint)).toBe('somebody');
  });
});
