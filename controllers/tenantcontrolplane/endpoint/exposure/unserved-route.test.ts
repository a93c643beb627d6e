import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import { konnectivityAddon } from '../../../../testing/builders/konnectivity-addon.ts';
import { publishing } from '../../../../testing/worlds/published-tenant.ts';
import type { PublishedBy } from '../../../../testing/worlds/published-tenant.ts';
import { PublishedWorld, acceptAll, followed, parent, routes } from '../../../../testing/worlds/published-world.ts';
import type { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';
import { workerBootstrapAddon } from '../../../../testing/builders/worker-bootstrap-addon.ts';

const hostname = 'a.k8s.example.org';
const addons = {
  coreDNS: {},
  kubeProxy: {},
  tcpProxy: {},
  konnectivity: konnectivityAddon(),
  workerBootstrap: workerBootstrapAddon(),
};

/** The conditions that are not as one wants them. */
async function wrong(world: TenantWorld): Promise<readonly string[]> {
  const { conditions = [] } = (await world.read()).status ?? {};
  return conditions.filter(({ status }) => status !== 'True').map(({ type, reason }) => `${type} ${reason}`);
}

/** The workloads inside the tenant. */
async function inside({ tenant }: TenantWorld): Promise<readonly string[]> {
  const [deployments, sets] = await Promise.all([
    tenant.admin.list(kinds.Deployment),
    tenant.admin.list(kinds.DaemonSet),
  ]);
  return [...deployments.items, ...sets.items].map(({ metadata }) => metadata.name).sort();
}

const all = ['coredns', 'konnectivity-agent', 'kube-proxy', 'steward-tcp-proxy'];

describe('A route that no controller serves', () => {
  test.each<[string, PublishedBy]>([
    ['a Gateway that there is not', { gateway: { hostname, parentRefs: [parent] } }],
    ['a class that no controller has', { ingress: { hostname, controllerType: 'nginx', ingressClassName: 'none' } }],
  ])('delays only the endpoint of a new tenant: %s', async (_what, by) => {
    const world = new PublishedWorld();
    await world.create(publishing(by));
    await world.change({ spec: { addons } });
    await world.settle();
    expect(await inside(world)).toEqual(all);
    const waiting = ['EndpointReady RouteNotAccepted', 'AddonsReady RouteNotAccepted', 'Ready NotReady'];
    expect((await wrong(world)).filter((one) => !waiting.includes(one))).toEqual([]);
  });

  test.each<[string, object]>([
    [
      'a Gateway that there is not',
      { ingress: null, gateway: { hostname, parentRefs: [{ ...parent, name: 'none' }] } },
    ],
    ['no Gateway at all', { ingress: null, gateway: { hostname: 'b.k8s.example.org', parentRefs: [] } }],
  ])('delays only the endpoint of a running tenant: %s', async (_what, controlPlane) => {
    const world = new PublishedWorld();
    await world.create(publishing({ ingress: { hostname, controllerType: 'nginx' } }));
    await followed(world);
    await world.change({ spec: { controlPlane: { ...controlPlane, deployment: { replicas: 3 } }, addons } });
    await followed(world);
    expect((await world.deployment())?.spec?.replicas).toBe(3);
    expect(await inside(world)).toEqual(all);
    expect((await world.read()).status?.controlPlaneEndpoint).toBe(`${hostname}:443`);
    const waiting = ['EndpointReady RouteNotAccepted', 'AddonsReady RouteNotAccepted', 'Ready NotReady'];
    expect((await wrong(world)).filter((one) => !waiting.includes(one))).toEqual([]);
  });
});

describe('A route whose port the Service no longer has', () => {
  test('is removed at once, whatever is broken in the tenant', async () => {
    const world = new PublishedWorld();
    await acceptAll(world);
    await world.create(publishing({ gateway: { hostname, parentRefs: [parent] } }));
    await world.change({ spec: { addons } });
    await world.settle();
    expect(await routes(world)).toEqual(['TLSRoute/tenant', 'TLSRoute/tenant-konnectivity', 'TLSRoute/tenant-trustd']);
    world.tenant.before(({ verb }) => {
      if (verb === 'apply') throw new ApiError(403, 'Forbidden', 'a webhook of the tenant says no');
    });
    world.restart();
    await world.change({ spec: { addons: { konnectivity: null, workerBootstrap: null } } });
    await world.settle();
    expect(await routes(world)).toEqual(['TLSRoute/tenant']);
  });
});
