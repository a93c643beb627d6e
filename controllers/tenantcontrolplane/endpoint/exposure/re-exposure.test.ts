import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import { gateway } from '../../../../api/gateway-api/kinds.ts';
import type { TlsRoute } from '../../../../api/gateway-api/kinds.ts';
import { ingressRouteTcp } from '../../../../api/traefik/kinds.ts';
import { isIpAddress, splitHostPort } from '../../../../kubeadm/networks.ts';
import { parseCertificates } from '../../../../kubeadm/pki/certificate-chain.ts';
import { parseKubeconfig } from '../../../../kubeadm/kubeconfig.ts';
import { CrashError } from '../../../../testing/fake/fake-faults.ts';
import { konnectivityAddon } from '../../../../testing/builders/konnectivity-addon.ts';
import { publishedTenant, publishing } from '../../../../testing/worlds/published-tenant.ts';
import type { PublishedBy } from '../../../../testing/worlds/published-tenant.ts';
import {
  PublishedWorld,
  acceptAll,
  accepted,
  addGateway,
  answer,
  followed,
  parent,
  published,
  routes,
  tlsRoute,
} from '../../../../testing/worlds/published-world.ts';
import { settledWorlds } from '../../../../testing/worlds/settled-worlds.ts';
import type { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';
import { ingressRules, traefikRules } from './router-rules.ts';
import { crashPoints } from '../../../../testing/worlds/crash-points.ts';

const key = { namespace: 'default', name: 'tenant' };
const host = 'a.k8s.example.org';
const next = 'b.k8s.example.org';
const byIngress: PublishedBy = { ingress: { hostname: host, controllerType: 'nginx' } };
const byTraefik: PublishedBy = { ingress: { hostname: host, controllerType: 'traefik' } };
const byGateway: PublishedBy = { gateway: { hostname: host, parentRefs: [parent] } };

/** Everything that contains the endpoint. */
async function whereEndpointStands(world: TenantWorld): Promise<Readonly<Record<string, readonly string[]>>> {
  const decode = (data: Readonly<Record<string, string>> = {}): readonly string[] =>
    Object.values(data).map((value) => Buffer.from(value, 'base64').toString());
  const kubeconfigs = Object.fromEntries(
    Object.entries((await world.secret('admin-kubeconfig'))?.data ?? {}).map(([name, value]) => [
      name,
      [parseKubeconfig(Buffer.from(value, 'base64').toString()).server],
    ]),
  );
  const [pem = ''] = decode({ crt: (await world.secret('api-server-certificate'))?.data?.['apiserver.crt'] ?? '' });
  const [certificate] = parseCertificates(pem, 'apiserver.crt');
  const map = async (namespace: string, name: string): Promise<string> =>
    JSON.stringify((await world.tenant.admin.get(kinds.ConfigMap, { namespace, name }))?.data);
  const servers = (text: string): readonly string[] => [...new Set(text.match(/https:[^\\" ]+/g))];
  return {
    ...kubeconfigs,
    certificate: [certificate.subjectAltName ?? ''],
    clusterInfo: servers(await map('kube-public', 'cluster-info')),
    kubeProxy: servers(await map('kube-system', 'kube-proxy')),
    kubeadmConfig: (await map('kube-system', 'kubeadm-config')).match(/(?<=controlPlaneEndpoint: )[^\\"]+/g) ?? [],
    shown:
      ((await world.configMap('kubeadmconfig'))?.data?.ClusterConfiguration ?? '').match(
        /(?<="controlPlaneEndpoint":")[^"]+/g,
      ) ?? [],
    status: [(await world.read()).status?.controlPlaneEndpoint ?? ''],
  };
}

/** The host names that routes lead. */
async function ledHosts({ cluster }: TenantWorld): Promise<ReadonlySet<string>> {
  const [ingress, traefik, own, agents] = await Promise.all([
    cluster.admin.get(kinds.Ingress, key),
    cluster.admin.get(ingressRouteTcp, key),
    cluster.admin.get<TlsRoute>(tlsRoute, key),
    cluster.admin.get<TlsRoute>(tlsRoute, { ...key, name: 'tenant-konnectivity' }),
  ]);
  return new Set([
    ...(ingress === undefined ? [] : ingressRules(ingress)).map((rule) => rule.host),
    ...(traefik === undefined ? [] : traefikRules(traefik)).map((rule) => rule.host),
    ...(own?.spec?.hostnames ?? []),
    ...(agents?.spec?.hostnames ?? []),
  ]);
}

/** The names in a stored certificate, which the pods show: in these tests they are replaced at once. */
async function shownNames(world: TenantWorld, suffix: string, entry: string): Promise<string> {
  const pem = Buffer.from((await world.secret(suffix))?.data?.[entry] ?? '', 'base64').toString();
  return pem === '' ? '' : (parseCertificates(pem, entry)[0].subjectAltName ?? '');
}

/** The host that agents dial. */
async function agentHost({ tenant }: TenantWorld): Promise<string | undefined> {
  const agents = await tenant.admin.get(kinds.DaemonSet, { namespace: 'kube-system', name: 'konnectivity-agent' });
  const args = agents?.spec?.template.spec?.containers[0]?.args ?? [];
  return args.map((arg) => /^--proxy-server-host=(.*)$/.exec(arg)?.[1]).find((found) => found !== undefined);
}

/** What would fail for clients that use a published endpoint: nothing, at any moment. */
async function dead(world: TenantWorld): Promise<readonly string[]> {
  const inside = ['certificate', 'admin.svc', 'super-admin.svc'];
  const stands = Object.entries(await whereEndpointStands(world)).filter(([where]) => !inside.includes(where));
  const told = stands.flatMap(([, texts]) => texts).filter((text) => text !== '');
  const hosts = told.map((text) => splitHostPort(text.replace('https://', ''), 'endpoint').host);
  const agents = await agentHost(world);
  const led = await ledHosts(world);
  const [served, servedAgents] = await Promise.all([
    shownNames(world, 'api-server-certificate', 'apiserver.crt'),
    shownNames(world, 'konnectivity-certificate', 'tls.crt'),
  ]);
  const all = [...hosts, ...(agents === undefined ? [] : [agents])];
  return [
    ...all.filter((name) => !isIpAddress(name) && !led.has(name)).map((name) => `no route leads ${name}`),
    ...hosts.filter((name) => !served.includes(name)).map((name) => `the API server does not show ${name}`),
    ...(agents !== undefined && !servedAgents.includes(agents) ? [`agents do not find ${agents}`] : []),
  ];
}

/** Records every dead endpoint after any call to either cluster. */
function watched(world: TenantWorld): readonly string[] {
  const found: string[] = [];
  const look = async (): Promise<void> => {
    found.push(...(await dead(world)));
  };
  world.cluster.after(look);
  world.tenant.after(look);
  return found;
}

/** A complete tenant with everything that contains its endpoint. */
function complete(by: PublishedBy): Promise<PublishedWorld> {
  const same = JSON.stringify(by);
  const one = completed.get(same) ?? settledWorlds(acceptingWorld, (world) => publish(world, by));
  completed.set(same, one);
  return one();
}

const completed = new Map<string, () => Promise<PublishedWorld>>();

async function acceptingWorld(): Promise<PublishedWorld> {
  const world = new PublishedWorld();
  await acceptAll(world);
  return world;
}

async function publish(world: PublishedWorld, by: PublishedBy): Promise<void> {
  await world.create(publishing(by));
  await world.change({ spec: { addons: { kubeProxy: {}, konnectivity: konnectivityAddon() } } });
  await world.settle();
  // Its route has been there for a while.
  await world.clock.advance(10 * 60_000);
  await world.settle();
}

const hostOf = async (world: TenantWorld): Promise<string> => (await world.read()).status?.controlPlaneEndpoint ?? '';

async function message(world: TenantWorld): Promise<string> {
  const { conditions = [] } = (await world.read()).status ?? {};
  return conditions.find(({ type }) => type === 'EndpointReady')?.message ?? '';
}

describe('An endpoint that changes', () => {
  const addons = { spec: { addons: { kubeProxy: {} } } };

  const giveAddress = (world: TenantWorld, entry: object): Promise<unknown> =>
    world.cluster.admin.patch(
      kinds.Service,
      key,
      { type: 'merge', body: { status: { loadBalancer: { ingress: [entry] } } } },
      { subresource: 'status' },
    );

  interface Case {
    readonly what: string;
    readonly by: PublishedBy;
    readonly change: (world: TenantWorld) => Promise<unknown>;
    readonly before: string;
    readonly after: string;
  }

  test.each<Case>([
    {
      what: 'the host name of an Ingress',
      by: byIngress,
      change: (world) => world.change({ spec: { controlPlane: { ingress: { hostname: next } } } }),
      before: `${host}:443`,
      after: `${next}:443`,
    },
    {
      what: 'the port of an Ingress',
      by: byIngress,
      change: (world) => world.change({ spec: { controlPlane: { ingress: { hostname: `${host}:8443` } } } }),
      before: `${host}:443`,
      after: `${host}:8443`,
    },
    {
      what: 'the host name of a Gateway',
      by: byGateway,
      change: (world) => world.change({ spec: { controlPlane: { gateway: { hostname: next } } } }),
      before: `${host}:6443`,
      after: `${next}:6443`,
    },
    {
      what: 'the port of the Service behind a Gateway',
      by: byGateway,
      change: (world) => world.change({ spec: { networkProfile: { port: 7443 } } }),
      before: `${host}:6443`,
      after: `${host}:7443`,
    },
    {
      what: 'the address of a load balancer',
      by: { service: { serviceType: 'LoadBalancer' } },
      change: (world) => giveAddress(world, { ip: '192.0.2.2' }),
      before: '192.0.2.1:6443',
      after: '192.0.2.2:6443',
    },
    {
      what: 'a load balancer that has a name now',
      by: { service: { serviceType: 'LoadBalancer' } },
      change: (world) => giveAddress(world, { hostname: 'lb.example.org' }),
      before: '192.0.2.1:6443',
      after: 'lb.example.org:6443',
    },
    {
      what: 'the address that its author gave',
      by: {},
      change: (world) => world.change({ spec: { networkProfile: { address: '192.0.2.9' } } }),
      before: '10.96.',
      after: '192.0.2.9:6443',
    },
    {
      what: 'an Ingress in the place of a Service alone',
      by: {},
      change: (world) => world.change({ spec: { controlPlane: byIngress } }),
      before: '10.96.',
      after: `${host}:443`,
    },
  ])('is changed everywhere, with $what', async ({ by, change, before, after }) => {
    const world = new PublishedWorld();
    await acceptAll(world);
    await world.create(publishing(by));
    await world.change(addons);
    await world.settle();
    await giveAddress(world, { ip: '192.0.2.1' });
    await followed(world);
    expect((await whereEndpointStands(world)).status).toEqual([expect.stringContaining(before)]);
    await change(world);
    await followed(world);
    const { host: name } = splitHostPort(after, 'endpoint');
    const port = (await world.cluster.admin.get(kinds.Service, key))?.spec?.ports?.[0]?.port ?? 0;
    const inside = [`https://tenant.default.svc:${port}`];
    const outside = [`https://${after}`];
    expect(await whereEndpointStands(world)).toEqual({
      'admin.conf': outside,
      'admin.svc': inside,
      'super-admin.conf': outside,
      'super-admin.svc': inside,
      certificate: [expect.stringContaining(name)],
      clusterInfo: outside,
      kubeProxy: outside,
      kubeadmConfig: [after],
      shown: [after],
      status: [after],
    });
    expect(world.events.join('\n')).toContain('admin.conf in Secret tenant-admin-kubeconfig');
  });
});

describe('A previous endpoint', () => {
  const toNext = { spec: { controlPlane: { ingress: { hostname: next } } } };

  test('stays in use until every pod has a certificate with the new name, which also contains the old one, and routers have followed', async () => {
    const world = await complete(byIngress);
    world.podsStart = false;
    await world.change(toNext);
    await world.settle();
    await world.reportPods({ replicas: 4, updatedReplicas: 2, readyReplicas: 3, unavailableReplicas: 1 });
    await world.clock.advance(10 * 60_000);
    await world.settle();
    expect(await hostOf(world)).toBe(`${host}:443`);
    expect(await message(world)).toContain(
      `still sent to ${host}:443; they switch to ${next}:443 when every pod serves`,
    );
    expect(await world.condition('EndpointReady')).toBe('True');
    const names = await shownNames(world, 'api-server-certificate', 'apiserver.crt');
    expect(names).toContain(`DNS:${host}`);
    expect(names).toContain(`DNS:${next}`);
    expect([...(await ledHosts(world))]).toEqual(expect.arrayContaining([host, next]));
    await world.startPods();
    await world.settle();
    expect(await message(world)).toContain('when routers have had 10 s to pick up the new pods');
    await world.clock.advance(9000);
    await world.settle();
    expect(await hostOf(world)).toBe(`${host}:443`);
    await world.clock.advance(1000);
    await world.settle();
    expect(await hostOf(world)).toBe(`${next}:443`);
  });

  test('stays routed for five minutes, and in certificates until the next renewal', async () => {
    const world = await complete(byIngress);
    await world.change(toNext);
    await world.settle();
    await world.clock.advance(10_000);
    await world.settle();
    expect(await hostOf(world)).toBe(`${next}:443`);
    await world.clock.advance(4 * 60_000);
    await world.settle();
    expect(await message(world)).toContain('remains in place until everything in the tenant has had five minutes');
    expect([...(await ledHosts(world))]).toContain(host);
    await world.clock.advance(61_000);
    await world.settle();
    expect([...(await ledHosts(world))].sort()).toEqual([next, 'b.konnectivity.example.org']);
    expect(await shownNames(world, 'api-server-certificate', 'apiserver.crt')).toContain(host);
    await world.clock.advance(364.5 * 24 * 60 * 60_000);
    await world.settle();
    const names = await shownNames(world, 'api-server-certificate', 'apiserver.crt');
    expect(names).not.toContain(host);
    expect(names).toContain(next);
  });

  test('stays in use until a Gateway accepts the new route, and that of the agents', async () => {
    const world = new PublishedWorld();
    await addGateway(world);
    await world.create(publishing(byGateway));
    await world.change({ spec: { addons: { konnectivity: konnectivityAddon() } } });
    await world.settle();
    for (const name of ['tenant', 'tenant-konnectivity']) await answer(world, accepted('True', 'Accepted'), name);
    await followed(world);
    expect(await world.condition('Ready')).toBe('True');
    await world.change({ spec: { controlPlane: { gateway: { hostname: next } } } });
    await followed(world);
    expect(await hostOf(world)).toBe(`${host}:6443`);
    expect(await agentHost(world)).toBe('a.konnectivity.example.org');
    expect(await world.condition('EndpointReady')).toContain('RouteNotAccepted');
    await answer(world, accepted('True', 'Accepted', 2));
    await followed(world);
    expect(await hostOf(world)).toBe(`${host}:6443`);
    await answer(world, accepted('True', 'Accepted', 2), 'tenant-konnectivity');
    await world.settle();
    expect(await hostOf(world)).toBe(`${next}:6443`);
    expect(await agentHost(world)).toBe('b.konnectivity.example.org');
    expect([...(await ledHosts(world))]).toContain(host);
    await followed(world);
    expect([...(await ledHosts(world))].sort()).toEqual([next, 'b.konnectivity.example.org']);
  });

  test('stays in use if a listener accepts a route only for the old name', async () => {
    const world = await published(byGateway, acceptAll);
    const listeners = [{ name: 'kube-apiserver', port: 6443, hostname: host }];
    const patch = (hostname: string): object => ({ spec: { listeners: [{ ...listeners[0], hostname }] } });
    const at = { namespace: 'default', name: 'gw' };
    await world.cluster.admin.patch(gateway, at, { type: 'merge', body: patch(host) });
    await world.change({ spec: { controlPlane: { gateway: { hostname: next } } } });
    await followed(world);
    expect(await world.condition('EndpointReady')).toContain(
      `its listener kube-apiserver accepts ${host}, not ${next}`,
    );
    expect(await hostOf(world)).toBe(`${host}:6443`);
    await world.cluster.admin.patch(gateway, at, { type: 'merge', body: patch('*.k8s.example.org') });
    await followed(world);
    expect(await hostOf(world)).toBe(`${next}:6443`);
  });

  test('stays at its Gateway until another one has accepted the route', async () => {
    const world = await published(byGateway, acceptAll);
    const other = { ...parent, name: 'other' };
    await world.change({ spec: { controlPlane: { gateway: { parentRefs: [other] } } } });
    await followed(world);
    const gateways = async (): Promise<readonly string[]> =>
      ((await world.cluster.admin.get<TlsRoute>(tlsRoute, key))?.spec?.parentRefs ?? []).map(({ name }) => name);
    expect(await gateways()).toEqual(['other', 'gw']);
    expect(await world.condition('EndpointReady')).toContain('RouteNotAccepted');
    await world.cluster.seed(gateway, {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'other', namespace: 'default' },
      status: { conditions: [{ type: 'Programmed', status: 'True' }] },
    });
    const { generation } = (await world.cluster.admin.get(tlsRoute, key))?.metadata ?? {};
    const parents = [{ parentRef: other, controllerName: 'x', conditions: [accepted('True', 'Accepted', generation)] }];
    await world.cluster.admin.patch(
      tlsRoute,
      key,
      { type: 'merge', body: { status: { parents } } },
      { subresource: 'status' },
    );
    await followed(world);
    expect(await gateways()).toEqual(['other']);
  });

  test.each([
    ['an Ingress with an address', byIngress, 0, true],
    ['an Ingress without an address', byIngress, 30_000, false],
    ['an Ingress without an address for a minute', byIngress, 61_000, true],
    ['Traefik', byTraefik, 30_000, false],
    ['Traefik for a minute', byTraefik, 61_000, true],
  ] as const)('is replaced by %s or not', async (what, to, ms, isFollowed) => {
    const world = await complete({});
    const before = await hostOf(world);
    await world.change({ spec: { controlPlane: to } });
    await world.settle();
    if (what.endsWith('with an address')) {
      const body = { status: { loadBalancer: { ingress: [{ ip: '192.0.2.80' }] } } };
      await world.cluster.admin.patch(kinds.Ingress, key, { type: 'merge', body }, { subresource: 'status' });
    }
    await world.clock.advance(ms);
    const { afterMs = Infinity } = await world.settle();
    expect(await hostOf(world)).toBe(isFollowed ? `${host}:443` : before);
    if (!isFollowed) expect(afterMs).toBeLessThanOrEqual(30_000);
  });

  test('is replaced at once if nothing serves there', async () => {
    const world = await complete(byIngress);
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    await world.change(toNext);
    await world.settle();
    expect(await hostOf(world)).toBe(`${next}:443`);
    // Documents inside the tenant could not follow: those who read them after it wakes come by the old name.
    await followed(world);
    expect([...(await ledHosts(world))]).toContain(host);
    await world.change({ spec: { controlPlane: { deployment: { replicas: 2 } } } });
    await followed(world);
    expect([...(await ledHosts(world))]).not.toContain(host);
  });

  test('stays in use while writes inside the tenant are denied', async () => {
    const world = await complete(byIngress);
    await world.change({ spec: { writePermissions: { blockUpdate: true } } });
    await world.settle();
    await world.change(toNext);
    await followed(world);
    expect([...(await ledHosts(world))]).toContain(host);
    await world.change({ spec: { writePermissions: null } });
    await followed(world);
    expect([...(await ledHosts(world))]).not.toContain(host);
  });

  test('causes no more writes while it waits, nor when it is replaced', async () => {
    const world = await complete(byIngress);
    await world.change(toNext);
    for (const ms of [0, 10 * 60_000]) {
      await world.clock.advance(ms);
      await world.settle();
      const before = await world.writes();
      await world.reconcile();
      expect(await world.writes()).toBe(before);
    }
  });
});

const agentsAt = (hostname: string | null): object => ({ addons: { konnectivity: { server: { hostname } } } });

describe('The host name of konnectivity agents', () => {
  const agents = 'agents.example.org';
  const derived = 'a.konnectivity.example.org';

  test('is dialed when every pod has a certificate with it, which also contains the previous one', async () => {
    const world = await complete(byIngress);
    world.podsStart = false;
    await world.change({ spec: agentsAt(agents) });
    await world.settle();
    const names = await shownNames(world, 'konnectivity-certificate', 'tls.crt');
    expect(names).toContain(`DNS:${agents}`);
    expect(names).toContain(`DNS:${derived}`);
    expect(await agentHost(world)).toBe(derived);
    expect([...(await ledHosts(world))].sort()).toEqual([derived, host, agents].sort());
    expect(await world.condition('AddonsReady')).toBe('True');
    const { conditions = [] } = (await world.read()).status ?? {};
    expect(conditions.find(({ type }) => type === 'AddonsReady')?.message).toContain(
      `they switch to ${agents} when every pod serves a certificate with the new name`,
    );
    await world.startPods();
    await world.settle();
    expect(await agentHost(world)).toBe(agents);
    expect((await world.read()).status?.addons?.konnectivity?.agent?.host).toBe(agents);
  });

  test('stays routed for five minutes after the agents were sent to another one', async () => {
    const world = await complete(byIngress);
    await world.change({ spec: agentsAt(agents) });
    await world.settle();
    expect(await agentHost(world)).toBe(agents);
    await world.clock.advance(4 * 60_000);
    await world.settle();
    expect([...(await ledHosts(world))]).toContain(derived);
    await world.clock.advance(61_000);
    await world.settle();
    expect([...(await ledHosts(world))].sort()).toEqual([host, agents].sort());
    await world.change({ spec: agentsAt(null) });
    await followed(world);
    expect(await agentHost(world)).toBe(derived);
    expect([...(await ledHosts(world))].sort()).toEqual([host, derived].sort());
  });

  test('is dialed when a Gateway accepts the route', async () => {
    const world = new PublishedWorld();
    await addGateway(world);
    await world.create(publishing(byGateway));
    await world.change({ spec: { addons: { konnectivity: konnectivityAddon() } } });
    await world.settle();
    for (const name of ['tenant', 'tenant-konnectivity']) await answer(world, accepted('True', 'Accepted'), name);
    await followed(world);
    await world.change({ spec: agentsAt(agents) });
    await followed(world);
    expect(await agentHost(world)).toBe(derived);
    expect([...(await ledHosts(world))]).toContain(derived);
    await answer(world, accepted('True', 'Accepted', 2), 'tenant-konnectivity');
    await followed(world);
    expect(await agentHost(world)).toBe(agents);
    expect([...(await ledHosts(world))].sort()).toEqual([host, agents].sort());
  });

  test('stays the previous one if another control plane has the wanted one, and the control plane keeps its own', async () => {
    const world = await complete(byIngress);
    const tcp = publishedTenant({ ingress: { hostname: agents } });
    const metadata = { name: 'rival', uid: 'r', creationTimestamp: '2029-01-01T00:00:00Z' };
    world.others.push({ ...tcp, metadata: { ...tcp.metadata, ...metadata } });
    await world.change({ spec: agentsAt(agents) });
    await followed(world);
    expect(await message(world)).toContain(`already uses the host name ${agents}`);
    expect([...(await ledHosts(world))].sort()).toEqual([host, derived].sort());
    expect(await agentHost(world)).toBe(derived);
    expect(await dead(world)).toEqual([]);
    world.others.pop();
    await followed(world);
    expect(await agentHost(world)).toBe(agents);
  });
});

describe('A manager that dies while it changes the endpoint', () => {
  const changes = [
    [
      'another host name of an Ingress',
      { controlPlane: { ingress: { hostname: next } } },
      ['Ingress/tenant'],
      [next, 'b.konnectivity.example.org'],
    ],
    [
      'a Gateway in the place of an Ingress',
      { controlPlane: { ingress: null, gateway: { hostname: next, parentRefs: [parent] } } },
      ['TLSRoute/tenant', 'TLSRoute/tenant-konnectivity'],
      [next, 'b.konnectivity.example.org'],
    ],
    ['a host name for agents', agentsAt('agents.example.org'), ['Ingress/tenant'], [host, 'agents.example.org']],
  ] as const;
  const about = new Set(['Ingress', 'TLSRoute', 'Deployment', 'TenantControlPlane']);

  test.each(changes)(
    'interrupts no client after any of its calls, and finishes: %s',
    async (_words, spec, left, led) => {
      const change = { spec };
      const model = await complete(byIngress);
      const from = model.cluster.calls.length;
      expect(await dead(model)).toEqual([]);
      const lost = watched(model);
      await model.change(change);
      await followed(model);
      expect(lost).toEqual([]);
      // After reads nothing has changed.
      const moments = model.cluster.calls
        .slice(from)
        .flatMap(({ kind, verb }, index) => (about.has(kind?.kind ?? '') && !/get|list/.test(verb) ? [index + 1] : []));
      expect(moments.length).toBeGreaterThan(4);
      for (const calls of crashPoints(moments, 're-exposure')) {
        const world = await complete(byIngress);
        await world.change(change);
        // The last call takes effect but its answer never arrives.
        world.cluster.crashAfter(calls, { losesAnswer: true });
        await followed(world).catch((error: unknown) => {
          if (!world.cluster.crashed) throw error;
        });
        expect({ calls, crashed: world.cluster.crashed, dead: await dead(world) }).toEqual({
          calls,
          crashed: true,
          dead: [],
        });
        world.restart();
        await followed(world);
        expect({ calls, dead: await dead(world), routes: await routes(world) }).toEqual({
          calls,
          dead: [],
          routes: left,
        });
        expect(await hostOf(world)).toBe(`${led[0]}:${left.length === 1 ? 443 : 6443}`);
        expect([...(await ledHosts(world))].sort()).toEqual([...led].sort());
        expect(await agentHost(world)).toBe(led[1]);
      }
    },
    300_000,
  );

  const written = (verb: string, kind: string, name = 'tenant') => ({ verb, kind, name });

  test.each([
    ['after it wrote the route in its place', written('apply', 'TLSRoute'), 'after'],
    ['after it wrote the route of the agents', written('apply', 'TLSRoute', 'tenant-konnectivity'), 'after'],
    ['before it deleted the Ingress', written('delete', 'Ingress'), 'before'],
    ['after it deleted the Ingress', written('delete', 'Ingress'), 'after'],
  ] as const)('leaves no Ingress behind when a Gateway takes its place: %s', async (_words, at, when) => {
    const world = await complete(byIngress);
    await world.change({
      spec: { controlPlane: { ingress: null, gateway: { hostname: next, parentRefs: [parent] } } },
    });
    const stop = world.cluster.before(({ verb, kind, name }) => {
      if (verb !== at.verb || kind?.kind !== at.kind || name !== at.name) return;
      world.cluster.crashAfter(when === 'before' ? 0 : 1, { losesAnswer: true });
      if (when === 'before') throw new CrashError('the process died before this call');
    });
    await followed(world).catch((error: unknown) => {
      if (!world.cluster.crashed) throw error;
    });
    expect(world.cluster.crashed).toBe(true);
    stop();
    world.restart();
    await followed(world);
    expect(await routes(world)).toEqual(['TLSRoute/tenant', 'TLSRoute/tenant-konnectivity']);
    expect(await dead(world)).toEqual([]);
  });
});
