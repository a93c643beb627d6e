import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { gateway, tlsRoutes } from '../../api/gateway-api/kinds.ts';

import type { KindRef, Resource } from '../../api/meta.ts';
import { ingressRouteTcp } from '../../api/traefik/kinds.ts';
import { splitHostPort } from '../../kubeadm/networks.ts';
import { parseCertificates } from '../../kubeadm/pki/certificate-chain.ts';
import { parseKubeconfig } from '../../kubeadm/kubeconfig.ts';
import { listedInformers } from '../../testing/listed-informers.ts';
import { publishing } from '../../testing/published-tenant.ts';
import type { PublishedBy } from '../../testing/published-tenant.ts';
import { TenantWorld } from '../../testing/tenant-world.ts';
import { workerBootstrapAddon } from '../../testing/worker-bootstrap-addon.ts';

const [tlsRoute] = tlsRoutes;
if (tlsRoute === undefined) throw new Error('there is no kind of route');

const key = { namespace: 'default', name: 'tenant' };
const host = 'tenant.example.org';
const parent = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gw' };
const byIngress: PublishedBy = { ingress: { hostname: host, controllerType: 'nginx' } };
const byTraefik: PublishedBy = { ingress: { hostname: host, controllerType: 'traefik' } };
const byGateway: PublishedBy = { gateway: { hostname: host, parentRefs: [parent] } };

/** A world whose watches know, at each settling, what there is. */
class PublishedWorld extends TenantWorld {
  readonly #lists: Map<string, readonly Resource[]>;

  constructor() {
    const lists = new Map<string, readonly Resource[]>();
    const followed = ['Ingress', 'TLSRoute', 'IngressRouteTCP'].map(
      (kind) => [kind, () => lists.get(kind) ?? []] as const,
    );
    super({ informers: () => listedInformers(Object.fromEntries(followed)) });
    this.#lists = lists;
  }

  override async settle(): ReturnType<TenantWorld['settle']> {
    await this.#look();
    await super.settle();
    await this.#look();
    return super.settle();
  }

  async #look(): Promise<void> {
    for (const kind of [kinds.Ingress as KindRef, tlsRoute as KindRef, ingressRouteTcp]) {
      const { items } = await this.cluster.admin.list<Resource>(kind).catch(() => ({ items: [] }));
      this.#lists.set(kind.kind, items);
    }
  }
}

async function published(by: PublishedBy, prepare?: (world: PublishedWorld) => unknown): Promise<PublishedWorld> {
  const world = new PublishedWorld();
  await prepare?.(world);
  await world.create(publishing(by));
  await world.settle();
  return world;
}

/** The message of a condition, whatever its status. */
async function messageOf(world: TenantWorld, type: string): Promise<string> {
  return (await world.read()).status?.conditions?.find((condition) => condition.type === type)?.message ?? '';
}

async function routes(world: TenantWorld): Promise<readonly string[]> {
  const all = await Promise.all(
    [kinds.Ingress as KindRef, tlsRoute as KindRef, ingressRouteTcp].map(async (kind) => {
      const { items } = await world.cluster.admin.list<Resource>(kind);
      return items.map(({ metadata }) => `${kind.kind}/${metadata.name ?? ''}`);
    }),
  );
  return all.flat().sort();
}

const accepted = (status: string, reason: string, generation = 1): object => ({
  type: 'Accepted',
  status,
  reason,
  message: '',
  lastTransitionTime: '2030-01-01T00:00:00Z',
  observedGeneration: generation,
});

/** What a controller of Gateways says of the route. */
async function answer(world: TenantWorld, condition: object, name = 'tenant'): Promise<void> {
  const conditions = [condition];
  const parentRef = { ...parent, sectionName: 'kube-apiserver', port: 6443 };
  const parents = [{ parentRef, controllerName: 'example.org/gateways', conditions }];
  const body = { status: { parents } };
  const at = { ...key, name };
  await world.cluster.admin.patch(tlsRoute as KindRef, at, { type: 'merge', body }, { subresource: 'status' });
}

async function addGateway(world: TenantWorld, programmed = 'True'): Promise<void> {
  await world.cluster.seed(gateway, {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'gw', namespace: 'default' },
    status: { conditions: [{ type: 'Programmed', status: programmed, reason: 'AddressNotAssigned' }] },
  });
}

describe('publishing through an Ingress', () => {
  test('leads to Ready under the host name at port 443', async () => {
    const world = await published(byIngress);
    const { status } = await world.read();
    expect(await routes(world)).toEqual(['Ingress/tenant']);
    expect(status?.controlPlaneEndpoint).toBe(`${host}:443`);
    expect(status?.kubernetesResources?.ingress).toEqual({ name: 'tenant', namespace: 'default' });
    expect(await world.condition('Ready')).toBe('True');
    expect(await world.condition('UnsupportedFields')).toBe('False AllSupported: ');
    expect(await messageOf(world, 'EndpointReady')).toContain('Ingress tenant carries no address yet');
  });

  test('tells the address that the controller wrote', async () => {
    const world = await published(byIngress);
    const body = { status: { loadBalancer: { ingress: [{ ip: '192.0.2.80' }] } } };
    await world.cluster.admin.patch(kinds.Ingress, key, { type: 'merge', body }, { subresource: 'status' });
    await world.settle();
    expect((await world.read()).status?.kubernetesResources?.ingress?.loadBalancer).toEqual(body.status.loadBalancer);
    expect(await messageOf(world, 'EndpointReady')).not.toContain('Ingress');
  });

  test('comes back when somebody deletes the Ingress', async () => {
    const world = await published(byIngress);
    await world.cluster.admin.delete(kinds.Ingress, key);
    await world.settle();
    expect(await routes(world)).toEqual(['Ingress/tenant']);
  });

  test('of a host name that is none is a condition, and the rest goes on', async () => {
    const world = await published({ ingress: {} });
    expect(await world.condition('EndpointReady')).toContain('InvalidSpec: spec.controlPlane.ingress.hostname');
    expect(await world.condition('StoreReady')).toBe('True');
  });

  test('leaves an Ingress of its name that another owner controls alone, and says so', async () => {
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'other', controller: true };
    const metadata = { ...key, ownerReferences: [other], labels: { 'steward.butlerlabs.dev/name': 'tenant' } };
    const foreign = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata };
    const world = await published(byIngress, (w) => w.cluster.seed(kinds.Ingress, foreign));
    expect(await world.condition('EndpointReady')).toContain('OwnedByAnother');
    await world.change({ spec: { controlPlane: { ingress: null } } });
    await world.settle();
    expect(await routes(world)).toEqual(['Ingress/tenant']);
  });
});

describe('publishing through a Gateway', () => {
  test('waits for the Gateway’s word, then for the Gateway, and tells where it is reached', async () => {
    const world = await published(byGateway);
    expect(await routes(world)).toEqual(['TLSRoute/tenant']);
    expect(await world.condition('EndpointReady')).toContain('RouteNotAccepted: no controller has answered');
    expect(await world.condition('EndpointReady')).toContain('Gateway default/gw');
    // The pods are up all the same: workers may have another way.
    expect(await world.state()).toBe('Ready');
    await answer(world, accepted('False', 'NotAllowedByListeners'));
    await world.settle();
    expect(await world.condition('EndpointReady')).toContain('NotAllowedByListeners');
    await answer(world, accepted('True', 'Accepted'));
    await world.settle();
    expect(await world.condition('EndpointReady')).toContain(
      'NotExposed: Gateway default/gw is not programmed: it does',
    );
    await addGateway(world, 'False');
    // The Gateway may be in a namespace that nobody follows.
    expect((await world.settle()).afterMs).toBeLessThanOrEqual(30_000);
    expect(await world.condition('EndpointReady')).toContain(
      'NotExposed: Gateway default/gw is not programmed: Address',
    );
    expect((await world.read()).status?.kubernetesResources?.gateway?.accessPoints).toBeUndefined();
    await addGateway(world);
    await world.settle();
    expect(await world.condition('Ready')).toBe('True');
    expect((await world.read()).status?.controlPlaneEndpoint).toBe(`${host}:6443`);
    expect((await world.read()).status?.kubernetesResources?.gateway).toMatchObject({
      routeRef: { name: 'tenant' },
      parents: [{ parentRef: { ...parent, port: 6443 }, controllerName: 'example.org/gateways' }],
      accessPoints: [{ type: 'Hostname', value: `https://${host}:6443`, port: 6443 }],
    });
  });

  test('does not take the word about an older route', async () => {
    const world = await published(byGateway, addGateway);
    await answer(world, accepted('True', 'Accepted'));
    await world.settle();
    expect(await world.condition('EndpointReady')).toBe('True');
    await world.change({ spec: { controlPlane: { gateway: { hostname: 'other.example.org' } } } });
    await world.settle();
    expect(await world.condition('EndpointReady')).toContain('RouteNotAccepted');
    await answer(world, accepted('True', 'Accepted', 2));
    await world.settle();
    expect(await world.condition('EndpointReady')).toBe('True');
  });

  test('has a route for konnectivity for as long as the Service has its port', async () => {
    const world = await published(byGateway);
    const extra = [{ name: 'konnectivity-server', protocol: 'TCP', port: 8132, targetPort: 8132 }];
    await world.change({ spec: { controlPlane: { service: { additionalPorts: extra } } } });
    await world.settle();
    expect(await routes(world)).toEqual(['TLSRoute/tenant', 'TLSRoute/tenant-konnectivity']);
    await answer(world, accepted('True', 'Accepted'));
    await world.settle();
    expect(await world.condition('AddonsReady')).toContain('RouteNotAccepted: no controller has answered to TLSRoute');
    expect(await world.condition('AddonsReady')).toContain('TLS listener konnectivity-server');
    await answer(world, accepted('True', 'Accepted'), 'tenant-konnectivity');
    await world.settle();
    expect(await world.condition('AddonsReady')).toBe('True');
    await world.change({ spec: { controlPlane: { service: { additionalPorts: null } } } });
    await world.settle();
    expect(await routes(world)).toEqual(['TLSRoute/tenant']);
  });
});

describe('a kind of route that the cluster does not have', () => {
  test.each<[string, PublishedBy, KindRef, string]>([
    ['Gateway API', byGateway, tlsRoute, 'install Gateway API'],
    ['Traefik', byTraefik, ingressRouteTcp, 'install Traefik'],
  ])('is waited for, with what helps: %s', async (_words, by, kind, remedy) => {
    const world = await published(by, (w) => {
      w.cluster.withdraw(kind);
    });
    expect(await world.condition('EndpointReady')).toContain('KindNotInstalled');
    expect(await world.condition('EndpointReady')).toContain(remedy);
    expect(await world.state()).toBe('Ready');
    const { afterMs = Infinity } = await world.settle();
    expect(afterMs).toBeLessThanOrEqual(30_000);
    world.cluster.serve(kind);
    await world.settle();
    expect(await routes(world)).toEqual([`${kind.kind}/tenant`]);
  });

  test('does not concern a tenant that has no use for it', async () => {
    const world = await published({}, (w) => {
      for (const kind of [tlsRoute, gateway, ingressRouteTcp]) w.cluster.withdraw(kind);
    });
    expect(await world.condition('Ready')).toBe('True');
  });

  test('keeps the route that there was', async () => {
    const world = await published(byIngress);
    world.cluster.withdraw(ingressRouteTcp);
    await world.change({ spec: { controlPlane: { ingress: { controllerType: 'traefik' } } } });
    await world.settle();
    expect(await world.cluster.admin.get(kinds.Ingress, key)).toBeDefined();
    expect((await world.read()).status?.kubernetesResources?.ingress?.name).toBe('tenant');
  });
});

describe('another way of publishing', () => {
  const nothing: PublishedBy = {};
  const ways = [
    ['nothing', nothing, []],
    ['Ingress', byIngress, ['Ingress/tenant']],
    ['Traefik', byTraefik, ['IngressRouteTCP/tenant']],
    ['Gateway', byGateway, ['TLSRoute/tenant']],
  ] as const;
  const changes = ways.flatMap(([from, before]) =>
    ways.filter(([to]) => to !== from).map(([to, after, left]) => ({ from, to, before, after, left })),
  );

  test.each(changes)('$to in the place of $from leaves nothing of it', async ({ before, after, left }) => {
    const world = await published(before);
    await world.change({ spec: { controlPlane: { ingress: null, gateway: null } } });
    await world.change({ spec: { controlPlane: after } });
    await world.settle();
    expect(await routes(world)).toEqual(left);
    const { ingress: ingressStatus, gateway: gatewayStatus } = (await world.read()).status?.kubernetesResources ?? {};
    expect(ingressStatus !== undefined).toBe('ingress' in after);
    expect(gatewayStatus !== undefined).toBe('gateway' in after);
  });

  test('writes nothing more once it is in place', async () => {
    const world = await published(byGateway, addGateway);
    await answer(world, accepted('True', 'Accepted'));
    await world.settle();
    const before = await world.writes();
    await world.visit();
    expect(await world.writes()).toBe(before);
  });
});

/** Everything in which the endpoint stands. */
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

describe('an endpoint that changes', () => {
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
      change: (world) => world.change({ spec: { controlPlane: { ingress: { hostname: 'new.example.org' } } } }),
      before: `${host}:443`,
      after: 'new.example.org:443',
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
      change: (world) => world.change({ spec: { controlPlane: { gateway: { hostname: 'new.example.org' } } } }),
      before: `${host}:6443`,
      after: 'new.example.org:6443',
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
    await world.create(publishing(by));
    await world.change(addons);
    await world.settle();
    await giveAddress(world, { ip: '192.0.2.1' });
    await world.settle();
    expect((await whereEndpointStands(world)).status).toEqual([expect.stringContaining(before)]);
    await change(world);
    await world.settle();
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

describe('a manager that dies while it changes the way of publishing', () => {
  const change = async (world: TenantWorld): Promise<void> => {
    await world.change({ spec: { controlPlane: { ingress: null } } });
    await world.change({ spec: { controlPlane: byGateway } });
  };

  test('leaves one route and no other, after whatever call about routes and status', async () => {
    const model = await published(byIngress);
    await change(model);
    const from = model.cluster.calls.length;
    await model.settle();
    const about = new Set<string | undefined>(['Ingress', 'TLSRoute', 'TenantControlPlane']);
    const moments = model.cluster.calls
      .slice(from)
      .flatMap(({ kind }, index) => (about.has(kind?.kind) ? [index + 1] : []));
    expect(moments.length).toBeGreaterThan(2);
    for (const calls of moments) {
      const world = await published(byIngress);
      await change(world);
      // The last call takes effect but its answer never arrives.
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await world.settle().catch(() => undefined);
      expect(world.cluster.crashed).toBe(true);
      world.restart();
      await world.settle();
      expect({ calls, routes: await routes(world) }).toEqual({ calls, routes: ['TLSRoute/tenant'] });
    }
  });
});

describe('trustd', () => {
  test.each([
    ['Traefik', byTraefik, ['IngressRouteTCP/tenant', 'IngressRouteTCP/tenant-trustd']],
    ['a Gateway', byGateway, ['TLSRoute/tenant', 'TLSRoute/tenant-trustd']],
  ] as const)('has a route of its own at %s, as long as it is wanted', async (_router, by, expected) => {
    const world = await published(by);
    const [own = ''] = expected;
    for (let times = 0; times < 2; times += 1) {
      await world.change({ spec: { addons: { workerBootstrap: workerBootstrapAddon() } } });
      await world.settle();
      expect(await routes(world)).toEqual(expected);
      await world.change({ spec: { addons: { workerBootstrap: null } } });
      await world.settle();
      expect(await routes(world)).toEqual([own]);
    }
  });
});
