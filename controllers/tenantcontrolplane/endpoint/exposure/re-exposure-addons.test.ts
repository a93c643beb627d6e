import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { CertificateSigningRequest } from '../../../../api/core/kinds.ts';
import { ingressRouteTcp } from '../../../../api/traefik/kinds.ts';
import { konnectivityAddon } from '../../../../testing/builders/konnectivity-addon.ts';
import { publishing } from '../../../../testing/worlds/published-tenant.ts';
import type { PublishedBy } from '../../../../testing/worlds/published-tenant.ts';
import { PublishedWorld, acceptAll, followed, parent } from '../../../../testing/worlds/published-world.ts';
import { requestPem, signingRequest } from '../../../../testing/builders/serving-certificate-request.ts';
import { settledWorlds } from '../../../../testing/worlds/settled-worlds.ts';
import type { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';
import { workerBootstrapAddon } from '../../../../testing/builders/worker-bootstrap-addon.ts';
import { traefikRules } from './router-rules.ts';
import { secretText } from '../../shared/secret.ts';
import { crashPoints } from '../../../../testing/worlds/crash-points.ts';

const key = { namespace: 'default', name: 'tenant' };
const host = 'a.k8s.example.org';
const next = 'b.k8s.example.org';
const byIngress = { ingress: { hostname: host, controllerType: 'nginx' } } as const satisfies PublishedBy;
const byTraefik = { ingress: { hostname: host, controllerType: 'traefik' } } as const satisfies PublishedBy;
const byGateway = { gateway: { hostname: host, parentRefs: [parent] } } as const satisfies PublishedBy;
/** At an address that no certificate has yet. */
const serviceAlone = { controlPlane: { ingress: null, gateway: null }, networkProfile: { address: '192.0.2.9' } };
const byTraefikNow = { controlPlane: byTraefik };
const toNext = { controlPlane: { ingress: { hostname: next } } };

/** A complete tenant with an add-on, whose route has existed for a while. */
function complete(by: PublishedBy, addons: object): Promise<PublishedWorld> {
  const same = JSON.stringify([by, addons]);
  const one = completed.get(same) ?? settledWorlds(acceptingWorld, (world) => publish(world, by, addons));
  completed.set(same, one);
  return one();
}

const completed = new Map<string, () => Promise<PublishedWorld>>();

async function acceptingWorld(): Promise<PublishedWorld> {
  const world = new PublishedWorld();
  await acceptAll(world);
  return world;
}

async function publish(world: PublishedWorld, by: PublishedBy, addons: object): Promise<void> {
  await world.create(publishing(by));
  await world.change({ spec: { addons } });
  await world.settle();
  await world.clock.advance(10 * 60_000);
  await world.settle();
}

/** Changes how the control plane is reached while its pods do not follow yet. */
async function begin(world: TenantWorld, spec: object): Promise<void> {
  world.podsStart = false;
  await world.change({ spec });
  await world.settle();
  await world.clock.advance(10 * 60_000);
  await world.settle();
}

async function end(world: TenantWorld): Promise<void> {
  world.podsStart = true;
  await world.startPods();
  await followed(world);
}

const endpointOf = async (world: TenantWorld): Promise<string> =>
  (await world.read()).status?.controlPlaneEndpoint ?? '';

/** Where the proxy leads, and how. */
async function proxy({ tenant }: TenantWorld): Promise<readonly string[]> {
  const found = await tenant.admin.get(kinds.Deployment, { namespace: 'kube-system', name: 'steward-tcp-proxy' });
  const args = found?.spec?.template.spec?.containers[0]?.args ?? [];
  return args.flatMap((arg) => {
    if (arg.startsWith('--tls-cert-file')) return ['ends TLS'];
    const [, upstream] = /^--upstream-addr=(.*)$/.exec(arg) ?? [];
    return upstream === undefined ? [] : [upstream];
  });
}

const withProxy = { tcpProxy: {} };
const withTrustd = { workerBootstrap: workerBootstrapAddon() };

describe('A TCP proxy inside a tenant whose endpoint changes', () => {
  test.each([
    ['an Ingress', byIngress, `${host}:443`],
    ['Traefik', byTraefik, `${host}:443`],
    ['a Gateway', byGateway, `${host}:6443`],
  ])('continues through %s until the Service alone is the endpoint', async (_what, by, before) => {
    const world = await complete(by, withProxy);
    expect(await proxy(world)).toEqual([before, 'ends TLS']);
    await begin(world, serviceAlone);
    expect(await endpointOf(world)).toBe(before);
    expect(await proxy(world)).toEqual([before, 'ends TLS']);
    expect(await world.secret('tcp-proxy-certificate')).toBeDefined();
    await end(world);
    expect(await endpointOf(world)).not.toBe(before);
    expect(await proxy(world)).toEqual([await endpointOf(world)]);
    expect(await world.secret('tcp-proxy-certificate')).toBeUndefined();
  });

  test('that is enabled during the change uses the old route, too', async () => {
    const world = await complete(byIngress, {});
    await begin(world, serviceAlone);
    await world.change({ spec: { addons: withProxy } });
    await world.settle();
    expect(await proxy(world)).toEqual([`${host}:443`, 'ends TLS']);
  });

  test('is not changed until a route is the endpoint', async () => {
    const world = await complete({}, withProxy);
    const before = await proxy(world);
    await begin(world, { controlPlane: byIngress });
    expect(await proxy(world)).toEqual(before);
    await end(world);
    expect(await proxy(world)).toEqual([`${host}:443`, 'ends TLS']);
  });

  test('passes through to the name of a load balancer that gets an address', async () => {
    const world = new PublishedWorld();
    await world.create(publishing({ service: { serviceType: 'LoadBalancer' } }));
    await world.change({ spec: { addons: withProxy } });
    await world.settle();
    const balance = (entry: object): Promise<unknown> =>
      world.cluster.admin.patch(
        kinds.Service,
        key,
        { type: 'merge', body: { status: { loadBalancer: { ingress: [entry] } } } },
        { subresource: 'status' },
      );
    await balance({ hostname: 'lb.example.org' });
    await followed(world);
    expect(await proxy(world)).toEqual(['lb.example.org:6443']);
    world.podsStart = false;
    await balance({ ip: '192.0.2.80' });
    await world.settle();
    expect(await endpointOf(world)).toBe('lb.example.org:6443');
    expect(await proxy(world)).toEqual(['lb.example.org:6443']);
  });
});

/** The certificate that trustd shows once pods have it. */
async function trustdCertificate(world: TenantWorld): Promise<X509Certificate> {
  return new X509Certificate(secretText((await world.secret('trustd-creds'))?.data)['server.crt'] ?? '');
}

const trustdLabel = 'component.steward.butlerlabs.dev/talos-trustd-credentials';

/** The checksums of trustd's credentials by which pods were made, in their order. */
function rolls(world: TenantWorld): readonly string[] {
  const found: string[] = [];
  world.cluster.after(async () => {
    const label = (await world.deployment())?.spec?.template.metadata?.labels?.[trustdLabel];
    if (label !== undefined && found.at(-1) !== label) found.push(label);
  });
  return found;
}

const trustdAt = async (world: TenantWorld): Promise<string | undefined> =>
  (await world.read()).status?.addons?.workerBootstrap?.endpoint;

async function trustdHosts({ cluster }: TenantWorld): Promise<readonly string[]> {
  const route = await cluster.admin.get(ingressRouteTcp, { ...key, name: 'tenant-trustd' });
  return route === undefined ? [] : traefikRules(route).map((rule) => rule.host);
}

test.each([
  ['another host name', { controlPlane: { ingress: { hostname: next } } }],
  ['the Service', serviceAlone],
])('no node gets a certificate for a host name that was replaced by %s', async (_what, to) => {
  const world = await complete(byIngress, { ...withTrustd, konnectivity: konnectivityAddon() });
  await world.change({ spec: to });
  await followed(world);
  const given = [host, 'a.konnectivity.example.org'];
  expect(await endpointOf(world)).not.toContain(host);
  for (const [at, name] of given.entries()) {
    const addresses = [
      { type: 'Hostname', address: 'worker-1' },
      ...given.map((address) => ({ type: 'InternalDNS', address })),
    ];
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1' }, status: { addresses } };
    if (at === 0) await world.tenant.seed(kinds.Node, node);
    const pem = await requestPem({ dnsNames: [name], ipAddresses: [] });
    await world.tenant.admin.create(kinds.CertificateSigningRequest, signingRequest(`csr-${at}`, pem));
  }
  const own = signingRequest('own', await requestPem({ ipAddresses: [] }));
  await world.tenant.admin.create(kinds.CertificateSigningRequest, own);
  await world.settle();
  const { items } = await world.tenant.admin.list<CertificateSigningRequest>(kinds.CertificateSigningRequest);
  const approved = items.filter(({ status }) => status?.conditions !== undefined).map(({ metadata }) => metadata.name);
  expect(approved).toEqual(['own']);
});

describe('trustd of a control plane whose endpoint changes', () => {
  test('has the new name in its certificate before workers get it, and the old one as long as needed', async () => {
    const world = await complete(byTraefik, withTrustd);
    expect(await trustdAt(world)).toBe(`${host}:50001`);
    await begin(world, toNext);
    const certificate = await trustdCertificate(world);
    expect([certificate.checkHost(host), certificate.checkHost(next)]).toEqual([host, next]);
    expect(await trustdAt(world)).toBe(`${host}:50001`);
    expect(await endpointOf(world)).toBe(`${host}:443`);
    await end(world);
    expect(await trustdAt(world)).toBe(`${next}:50001`);
    expect(await endpointOf(world)).toBe(`${next}:443`);
  });

  test.each([
    ['a route in place of the Service', {}, byTraefikNow, /^10\.96\..*:50001$/, `${host}:50001`],
    ['the Service in place of a route', byTraefik, serviceAlone, new RegExp(`^${host}:50001$`), ':50001'],
  ])('is published at one place at a time, with %s', async (...[, by, to, before, after]) => {
    const world = await complete(by, withTrustd);
    expect(await trustdAt(world)).toMatch(before);
    await begin(world, to);
    expect(await trustdAt(world)).toMatch(before);
    await end(world);
    expect(await trustdAt(world)).toContain(after);
    expect(await trustdAt(world)).not.toMatch(before);
  });

  test('that is enabled during the change is published when the endpoint is ready', async () => {
    const world = await complete(byTraefik, {});
    await begin(world, serviceAlone);
    await world.change({ spec: { addons: withTrustd } });
    await world.settle();
    expect(await trustdAt(world)).toBeUndefined();
    await end(world);
    expect(await trustdAt(world)).toMatch(/:50001$/);
  });

  test('delays the endpoint until its pods have the new name', async () => {
    const world = await complete(byTraefik, withTrustd);
    await begin(world, toNext);
    const label = (await world.deployment())?.spec?.template.metadata?.labels?.[trustdLabel];
    // As an older manager left it: pods have the names of the API server, but not that of trustd.
    await world.cluster.admin.patch(kinds.Deployment, key, {
      type: 'merge',
      body: { spec: { template: { metadata: { labels: { [trustdLabel]: 'old' } } } } },
    });
    await world.startPods();
    await world.reconcile();
    expect(await endpointOf(world)).toBe(`${host}:443`);
    await end(world);
    expect((await world.deployment())?.spec?.template.metadata?.labels?.[trustdLabel]).toBe(label);
    expect(await endpointOf(world)).toBe(`${next}:443`);
  });

  test('has a Traefik route under both names until all clients have switched', async () => {
    const world = await complete(byTraefik, withTrustd);
    await begin(world, toNext);
    expect(await trustdHosts(world)).toEqual([next, host]);
    await world.startPods();
    await world.settle();
    expect(await trustdHosts(world)).toEqual([next, host]);
    await end(world);
    expect(await trustdHosts(world)).toEqual([next]);
  });

  test('restarts once, whenever the manager dies', async () => {
    const model = await complete(byTraefik, withTrustd);
    const from = model.cluster.calls.length;
    const once = rolls(model);
    await model.change({ spec: toNext });
    await followed(model);
    expect(once).toHaveLength(2);
    const about = new Set(['Deployment', 'TenantControlPlane']);
    const moments = model.cluster.calls
      .slice(from)
      .flatMap(({ kind, verb }, index) => (about.has(kind?.kind ?? '') && !/get|list/.test(verb) ? [index + 1] : []));
    expect(moments.length).toBeGreaterThan(4);
    for (const calls of crashPoints(moments, 're-exposure of add-ons')) {
      const world = await complete(byTraefik, withTrustd);
      const seen = rolls(world);
      await world.change({ spec: toNext });
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await followed(world).catch((error: unknown) => {
        if (!world.cluster.crashed) throw error;
      });
      world.restart();
      await followed(world);
      expect({ calls, rolls: seen.length }).toEqual({ calls, rolls: 2 });
      expect(await trustdAt(world)).toBe(`${next}:50001`);
    }
  }, 300_000);
});
