import { kinds } from '../../api/core/kinds.ts';
import { gateway, tlsRoutes } from '../../api/gateway-api/kinds.ts';
import type { KindRef, Resource } from '../../api/meta.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ingressRouteTcp } from '../../api/traefik/kinds.ts';
import { listedInformers } from '../fake/listed-informers.ts';
import { publishing } from './published-tenant.ts';
import type { PublishedBy } from './published-tenant.ts';
import { TenantWorld } from './tenant-world.ts';

const [newest] = tlsRoutes;
if (newest === undefined) throw new Error('there is no kind of route');
/** TLSRoute in its newest version. */
export const tlsRoute = newest;

const key = { namespace: 'default', name: 'tenant' };

/** The Gateway of these tests. */
export const parent = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gw' };

/** A world whose watches know, at each settling, what there is. */
export class PublishedWorld extends TenantWorld {
  readonly #lists: Map<string, readonly Resource[]>;
  /** Other control planes, as the watch reports them. */
  readonly others: TenantControlPlane[];

  constructor() {
    const lists = new Map<string, readonly Resource[]>();
    const followed = ['Ingress', 'TLSRoute', 'IngressRouteTCP'].map(
      (kind) => [kind, () => lists.get(kind) ?? []] as const,
    );
    const others: TenantControlPlane[] = [];
    const tenants = { TenantControlPlane: () => others };
    super({ informers: () => listedInformers({ ...Object.fromEntries(followed), ...tenants }) });
    this.#lists = lists;
    this.others = others;
  }

  override async settle(): ReturnType<TenantWorld['settle']> {
    await this.#look();
    await super.settle();
    await this.#look();
    return super.settle();
  }

  override async copyFrom(other: this): Promise<void> {
    await super.copyFrom(other);
    this.others.splice(0, Infinity, ...other.others);
  }

  async #look(): Promise<void> {
    for (const kind of [kinds.Ingress as KindRef, tlsRoute, ingressRouteTcp]) {
      const { items } = await this.cluster.admin.list<Resource>(kind).catch(() => ({ items: [] }));
      this.#lists.set(kind.kind, items);
    }
  }
}

/** A world with a tenant with this exposure, after it is complete. */
export async function published(
  by: PublishedBy,
  prepare?: (world: PublishedWorld) => unknown,
): Promise<PublishedWorld> {
  const world = new PublishedWorld();
  await prepare?.(world);
  await world.create(publishing(by));
  await world.settle();
  return world;
}

/** Every route, as `Kind/name`. */
export async function routes(world: TenantWorld): Promise<readonly string[]> {
  const all = await Promise.all(
    [kinds.Ingress as KindRef, tlsRoute, ingressRouteTcp].map(async (kind) => {
      const { items } = await world.cluster.admin.list<Resource>(kind);
      return items.map(({ metadata }) => `${kind.kind}/${metadata.name}`);
    }),
  );
  return all.flat().sort();
}

/** The condition by which a Gateway accepts a route, or does not. */
export const accepted = (status: string, reason: string, generation = 1): object => ({
  type: 'Accepted',
  status,
  reason,
  message: '',
  lastTransitionTime: '2030-01-01T00:00:00Z',
  observedGeneration: generation,
});

/** Says of a route what a controller of Gateways does. */
export async function answer(world: TenantWorld, condition: object, name = 'tenant'): Promise<void> {
  const conditions = [condition];
  const parentRef = { ...parent, sectionName: 'kube-apiserver', port: 6443 };
  const parents = [{ parentRef, controllerName: 'example.org/gateways', conditions }];
  const body = { status: { parents } };
  const at = { ...key, name };
  await world.cluster.admin.patch(tlsRoute, at, { type: 'merge', body }, { subresource: 'status' });
}

/** Makes the Gateway. */
export async function addGateway(world: TenantWorld, programmed = 'True'): Promise<void> {
  await world.cluster.seed(gateway, {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'gw', namespace: 'default' },
    status: { conditions: [{ type: 'Programmed', status: programmed, reason: 'AddressNotAssigned' }] },
  });
}

/** Lets the Gateway accept every route of a tenant as soon as it is written. */
export async function acceptAll(world: TenantWorld): Promise<void> {
  await addGateway(world);
  world.cluster.after(async ({ kind, verb, name = '' }) => {
    if (kind?.kind !== tlsRoute.kind || verb !== 'apply') return;
    const route = await world.cluster.admin.get(tlsRoute, { ...key, name });
    await answer(world, accepted('True', 'Accepted', route?.metadata.generation), name);
  });
}

/** Lets so much time pass that everybody has followed to another endpoint. */
export async function followed(world: TenantWorld): Promise<void> {
  await world.settle();
  // A controller without a status has had its minute, and then everything in the tenant its five.
  for (const ms of [61_000, 5 * 60_000]) {
    await world.clock.advance(ms);
    await world.settle();
  }
}
