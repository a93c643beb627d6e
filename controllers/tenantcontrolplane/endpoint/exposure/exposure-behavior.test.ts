import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import { gateway } from '../../../../api/gateway-api/kinds.ts';
import type { KindRef } from '../../../../api/meta.ts';
import { ingressRouteTcp } from '../../../../api/traefik/kinds.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { publishedTenant } from '../../../../testing/worlds/published-tenant.ts';
import { konnectivityAddon } from '../../../../testing/builders/konnectivity-addon.ts';
import type { PublishedBy } from '../../../../testing/worlds/published-tenant.ts';
import { workerBootstrapAddon } from '../../../../testing/builders/worker-bootstrap-addon.ts';
import {
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
import type { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';

const key = { namespace: 'default', name: 'tenant' };
const host = 'tenant.example.org';
const byIngress: PublishedBy = { ingress: { hostname: host, controllerType: 'nginx' } };
const byTraefik: PublishedBy = { ingress: { hostname: host, controllerType: 'traefik' } };
const byGateway: PublishedBy = { gateway: { hostname: host, parentRefs: [parent] } };

/** The message of a condition with any status. */
async function messageOf(world: TenantWorld, type: string): Promise<string> {
  return (await world.read()).status?.conditions?.find((condition) => condition.type === type)?.message ?? '';
}

describe('Exposure by an Ingress', () => {
  test('leads to Ready with the host name at port 443', async () => {
    const world = await published(byIngress);
    const { status } = await world.read();
    expect(await routes(world)).toEqual(['Ingress/tenant']);
    expect(status?.controlPlaneEndpoint).toBe(`${host}:443`);
    expect(status?.kubernetesResources?.ingress).toEqual({ name: 'tenant', namespace: 'default' });
    expect(await world.condition('Ready')).toBe('True');
    expect(await messageOf(world, 'EndpointReady')).toContain('Ingress tenant has no address yet');
  });

  test('reports the address that the controller wrote', async () => {
    const world = await published(byIngress);
    const body = { status: { loadBalancer: { ingress: [{ ip: '192.0.2.80' }] } } };
    await world.cluster.admin.patch(kinds.Ingress, key, { type: 'merge', body }, { subresource: 'status' });
    await world.settle();
    expect((await world.read()).status?.kubernetesResources?.ingress?.loadBalancer).toEqual(body.status.loadBalancer);
    expect(await messageOf(world, 'EndpointReady')).not.toContain('Ingress');
  });

  test('is restored when the Ingress is deleted', async () => {
    const world = await published(byIngress);
    await world.cluster.admin.delete(kinds.Ingress, key);
    await world.settle();
    expect(await routes(world)).toEqual(['Ingress/tenant']);
  });

  test('is reported as a condition if the host name is invalid, and the rest continues', async () => {
    const world = await published({ ingress: {} });
    expect(await world.condition('EndpointReady')).toContain('InvalidSpec: spec.controlPlane.ingress.hostname');
    expect(await world.condition('StoreReady')).toBe('True');
  });

  test('does not change an Ingress of its name with another controller, and reports that', async () => {
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

describe('Exposure by a Gateway', () => {
  test('waits until the Gateway accepts the route, then for the Gateway, and reports its address', async () => {
    const world = await published(byGateway);
    expect(await routes(world)).toEqual(['TLSRoute/tenant']);
    expect(await world.condition('EndpointReady')).toContain('RouteNotAccepted: no controller has responded');
    expect(await world.condition('EndpointReady')).toContain('Gateway default/gw');
    // The pods are up all the same: workers may have another way.
    expect(await world.state()).toBe('Ready');
    await answer(world, accepted('False', 'NotAllowedByListeners'));
    await world.settle();
    expect(await world.condition('EndpointReady')).toContain('NotAllowedByListeners');
    await answer(world, accepted('True', 'Accepted'));
    await world.settle();
    expect(await world.condition('EndpointReady')).toContain(
      'NotExposed: Gateway default/gw is not programmed: it no longer',
    );
    await addGateway(world, 'False');
    // The Gateway may be in a namespace that is not watched.
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

  test('ignores a status about an older route', async () => {
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

  test('has a route for konnectivity as long as the Service has its port', async () => {
    const world = await published(byGateway);
    const extra = [{ name: 'konnectivity-server', protocol: 'TCP', port: 8132, targetPort: 8132 }];
    await world.change({ spec: { controlPlane: { service: { additionalPorts: extra } } } });
    await world.settle();
    expect(await routes(world)).toEqual(['TLSRoute/tenant', 'TLSRoute/tenant-konnectivity']);
    await answer(world, accepted('True', 'Accepted'));
    await world.settle();
    expect(await world.condition('AddonsReady')).toContain('RouteNotAccepted: no controller has responded to TLSRoute');
    expect(await world.condition('AddonsReady')).toContain('TLS listener konnectivity-server');
    await answer(world, accepted('True', 'Accepted'), 'tenant-konnectivity');
    await world.settle();
    expect(await world.condition('AddonsReady')).toBe('True');
    await world.change({ spec: { controlPlane: { service: { additionalPorts: null } } } });
    await world.settle();
    expect(await routes(world)).toEqual(['TLSRoute/tenant']);
  });
});

describe('The route of konnectivity agents', () => {
  // A control plane `tenant-konnectivity` calls its own route like `tenant` calls that for its agents.
  test('takes no route from another control plane, and reports that', async () => {
    const metadata = { ...key, name: 'tenant-konnectivity' };
    const spec = { hostnames: ['theirs.example.org'] };
    let uid = '';
    const world = await published(byGateway, async (made) => {
      await acceptAll(made);
      ({ uid } = (await made.cluster.seed(tenantControlPlane, { ...publishedTenant({}), metadata })).metadata);
      const { apiVersion, kind } = publishedTenant({});
      const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid, controller: true }];
      await made.cluster.seed(tlsRoute, {
        ...{ apiVersion: `${tlsRoute.group}/${tlsRoute.version}`, kind: tlsRoute.kind },
        ...{ metadata: { ...metadata, ownerReferences }, spec },
      });
    });
    await world.change({ spec: { addons: { konnectivity: konnectivityAddon() } } });
    await world.settle();
    expect(await world.condition('EndpointReady')).toContain('OwnedByAnother');
    expect(await messageOf(world, 'EndpointReady')).toContain('rename one of the two owners');
    await world.change({ spec: { addons: { konnectivity: null } } });
    await world.settle();
    expect(await world.cluster.admin.get(tlsRoute, metadata)).toMatchObject({
      metadata: { ownerReferences: [{ uid }] },
      spec,
    });
  });

  test('is reported in the status of the add-on, as long as there is one', async () => {
    const world = await published(byGateway, acceptAll);
    const gatewayOf = async (): Promise<unknown> => (await world.read()).status?.addons?.konnectivity?.gateway;
    await world.change({ spec: { addons: { konnectivity: konnectivityAddon() } } });
    await world.settle();
    expect(await gatewayOf()).toMatchObject({
      routeRef: { name: 'tenant-konnectivity' },
      parents: [{ controllerName: 'example.org/gateways', conditions: [{ type: 'Accepted' }] }],
      accessPoints: [{ type: 'Hostname', value: expect.stringContaining(`https://${host}:`) as unknown }],
    });
    const own = (await world.read()).status?.kubernetesResources?.gateway;
    expect(own?.routeRef?.name).toBe('tenant');
    await world.change({ spec: { controlPlane: { gateway: null } } });
    await followed(world);
    expect(await gatewayOf()).toBeUndefined();
    expect((await world.read()).status?.addons?.konnectivity?.enabled).toBe(true);
  });
});

describe('A kind of route that the cluster does not have', () => {
  test.each<[string, PublishedBy, KindRef, string]>([
    ['Gateway API', byGateway, tlsRoute, 'install Gateway API'],
    ['Traefik', byTraefik, ingressRouteTcp, 'install Traefik'],
  ])('is awaited, with the fix: %s', async (_words, by, kind, remedy) => {
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

  test('does not affect a tenant that does not use it', async () => {
    const world = await published({}, (w) => {
      for (const kind of [tlsRoute, gateway, ingressRouteTcp]) w.cluster.withdraw(kind);
    });
    expect(await world.condition('Ready')).toBe('True');
  });

  test('keeps the previous route', async () => {
    const world = await published(byIngress);
    world.cluster.withdraw(ingressRouteTcp);
    await world.change({ spec: { controlPlane: { ingress: { controllerType: 'traefik' } } } });
    await world.settle();
    expect(await world.cluster.admin.get(kinds.Ingress, key)).toBeDefined();
    expect((await world.read()).status?.kubernetesResources?.ingress?.name).toBe('tenant');
  });
});

describe('Another exposure', () => {
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

  test.each(changes)('$to in place of $from leaves nothing of it', async ({ before, after, left }) => {
    const world = await published(before, acceptAll);
    await world.change({ spec: { controlPlane: { ingress: null, gateway: null } } });
    await world.change({ spec: { controlPlane: after } });
    await followed(world);
    expect(await routes(world)).toEqual(left);
    const { ingress: ingressStatus, gateway: gatewayStatus } = (await world.read()).status?.kubernetesResources ?? {};
    expect(ingressStatus !== undefined).toBe('ingress' in after);
    expect(gatewayStatus !== undefined).toBe('gateway' in after);
  });

  test('writes nothing more once it is complete', async () => {
    const world = await published(byGateway, addGateway);
    await answer(world, accepted('True', 'Accepted'));
    await world.settle();
    const before = await world.writes();
    await world.reconcile();
    expect(await world.writes()).toBe(before);
  });
});

describe('A host name that another control plane has', () => {
  const rival = (created: string, namespace = 'default'): TenantControlPlane => {
    const tcp = publishedTenant(byIngress);
    return { ...tcp, metadata: { ...tcp.metadata, name: 'rival', namespace, uid: 'r', creationTimestamp: created } };
  };
  const older = '2029-01-01T00:00:00Z';

  test('is not used by the younger one, which has no route for it, until it is free', async () => {
    const world = await published(byIngress, ({ others }) => others.push(rival(older)));
    expect(await routes(world)).toEqual([]);
    expect(await world.condition('EndpointReady')).toContain('HostNameTaken: TenantControlPlane rival, which is older');
    expect(await world.state()).toBe('Ready');
    world.others.pop();
    await world.settle();
    expect(await routes(world)).toEqual(['Ingress/tenant']);
    expect(await world.condition('EndpointReady')).toBe('True');
  });

  test('stays with the older one, whatever a younger one requests', async () => {
    const world = await published(byIngress, ({ others }) => others.push(rival('2031-01-01T00:00:00Z')));
    expect(await routes(world)).toEqual(['Ingress/tenant']);
  });

  test('in another namespace is reported without its owner', async () => {
    const world = await published(byIngress, ({ others }) => others.push(rival(older, 'hidden')));
    expect(await world.condition('EndpointReady')).toContain(
      'HostNameTaken: a TenantControlPlane in another namespace',
    );
    expect(JSON.stringify(await world.read())).not.toMatch(/hidden|rival/);
  });

  test('is removed from the routes of a younger one that has it too', async () => {
    const world = await published(byIngress);
    world.others.push(rival(older));
    await world.settle();
    expect(await routes(world)).toEqual([]);
  });

  test('leaves the previous host name routed', async () => {
    const world = await published({ ingress: { hostname: 'mine.example.org', controllerType: 'nginx' } });
    world.others.push(rival(older));
    await world.change({ spec: { controlPlane: { ingress: { hostname: host } } } });
    await followed(world);
    expect(await world.condition('EndpointReady')).toContain('HostNameTaken');
    expect((await world.read()).status?.controlPlaneEndpoint).toBe('mine.example.org:443');
    const rules = (await world.cluster.admin.get(kinds.Ingress, key))?.spec?.rules ?? [];
    expect(rules.map((rule) => rule.host)).toEqual(['mine.example.org']);
  });
});

describe('trustd', () => {
  test.each([
    ['Traefik', byTraefik, ['IngressRouteTCP/tenant', 'IngressRouteTCP/tenant-trustd']],
    ['a Gateway', byGateway, ['TLSRoute/tenant', 'TLSRoute/tenant-trustd']],
  ] as const)('has a separate route at %s, as long as it is enabled', async (_router, by, expected) => {
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
