import { kinds } from '../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../api/meta.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ownedKinds } from '../../controllers/tenantcontrolplane/watches.ts';
import { noneIfAbsent } from './tenant-world.ts';
import type { TenantWorld } from './tenant-world.ts';

/** Every object by name, without what differs from one run to the next: versions, times, keys. */
export async function tenantShape(world: TenantWorld): Promise<unknown> {
  const all = await Promise.all(
    [...ownedKinds.map(({ kind }): KindRef => kind), tenantControlPlane].map(async (kind) => {
      const { items } = await world.cluster.admin.list<Resource & { readonly data?: object }>(kind).catch(noneIfAbsent);
      return items.map(({ metadata, data }) => ({
        kind: kind.kind,
        name: metadata.name,
        labels: Object.keys(metadata.labels ?? {}).sort(),
        annotations: Object.keys(metadata.annotations ?? {}).sort(),
        finalizers: metadata.finalizers,
        owner: metadata.ownerReferences?.map(({ name }) => name),
        keys: Object.keys(data ?? {}).sort(),
      }));
    }),
  );
  const status = (await world.exists()) ? await world.read().then((tcp) => tcp.status) : undefined;
  return {
    objects: all.flat().sort((a, b) => (`${a.kind}/${a.name}` < `${b.kind}/${b.name}` ? -1 : 1)),
    inTenant: await inTenant(world),
    conditions: status?.conditions?.map(({ type, status: value, reason }) => `${type}=${value} ${reason}`).sort(),
    state: status?.kubernetesResources?.version,
    shares: status?.storage?.overrides?.map(({ resource, dataStoreName }) => `${resource} in ${dataStoreName}`),
    tenancies: [...world.store.tenancies.keys()].length,
  };
}

async function inTenant(world: TenantWorld): Promise<readonly string[]> {
  const all = await Promise.all(
    [kinds.ConfigMap, kinds.Role, kinds.RoleBinding, kinds.ClusterRole, kinds.ClusterRoleBinding, kinds.Deployment].map(
      async (kind) => {
        const { items } = await world.tenant.admin.list<Resource>(kind);
        return items.map(({ metadata }) => `${kind.kind} ${metadata.namespace ?? ''}/${metadata.name}`);
      },
    ),
  );
  return all.flat().sort();
}

/** Calls of the process to the management cluster until `work` is over. */
export async function callsOf(world: TenantWorld, work: () => Promise<unknown>): Promise<number> {
  const before = world.cluster.calls.length;
  await work();
  return world.cluster.calls.length - before;
}

/** Works until the process dies, which is sure to happen. */
export async function untilDeath(world: TenantWorld): Promise<void> {
  for (let reconciles = 0; reconciles < 20 && !world.cluster.crashed; reconciles += 1) {
    await world.reconcile();
  }
}
