import { keptTenant } from '../../api/controlplane/kept-tenant.ts';
import { UnreadableRecord } from '../../api/controlplane/unreadable-record.ts';
import type { Resource } from '../../api/meta.ts';
import { ownerReferenceOf } from '../../api/owner-reference.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { setConditions } from '../../runtime/conditions.ts';
import type { Context, Visit } from '../../runtime/controller.ts';
import { inheritedStatus } from './inherited-status.ts';
import { controllerUid, ownerPatch, passedOn } from './passed-on.ts';
import type { Dependencies } from './dependencies.ts';
import { keeperOf } from './keeper.ts';

/** Until the StewardControlPlane is asked again, in milliseconds: nothing here hears of it. */
const askAgainMs = 500;

/**
 * What a TenantControlPlane does before anything is made for it: it takes over what its StewardControlPlane keeps of the one before,
 * when that names it as the heir, and waits while that may still name it. Undefined when there is nothing to take over. The visit that
 * takes over does nothing else, since names and owner of the tenancy change with the status.
 */
export async function inherit(
  tcp: TenantControlPlane,
  deps: Dependencies,
  ctx: Context,
): Promise<Visit<TenantControlPlane> | undefined> {
  if (hasShare(tcp)) return undefined;
  const keeper = await keeperOf(tcp, deps, ctx);
  if (keeper === undefined) return undefined;
  const former = keptTenant(keeper);
  if (former === undefined) return (await isOutdated(tcp, deps, ctx)) ? { afterMs: askAgainMs } : undefined;
  const { name = '', uid = '' } = keeper.metadata;
  if (former instanceof UnreadableRecord) {
    return waiting(tcp, `what StewardControlPlane ${name} keeps cannot be read: ${former.why}`, ctx);
  }
  if (keeper.status?.keptTenancy?.heirUID !== tcp.metadata.uid) {
    const message = `StewardControlPlane ${name} keeps the data of the TenantControlPlane before this one, and has not named this one as its heir yet`;
    return waiting(tcp, message, ctx);
  }
  const inTheWay = await takeOver(tcp, { from: uid, former: former.metadata.uid ?? '' }, { deps, ctx });
  if (inTheWay.length > 0) {
    const message = `waits until ${inTheWay.join(', ')} of the TenantControlPlane before this one can be taken over or is gone`;
    return waiting(tcp, message, ctx);
  }
  ctx.event(
    'Normal',
    'DataInherited',
    `takes over the data of the TenantControlPlane with UID ${former.metadata.uid ?? ''}`,
  );
  return { status: inheritedStatus(tcp, former, ctx.now), afterMs: 0 };
}

function hasShare({ status }: TenantControlPlane): boolean {
  return status?.storage?.setup?.schema !== undefined;
}

/** True when the copy that is visited is older than the takeover, after which nothing is kept any more. */
async function isOutdated({ metadata }: TenantControlPlane, deps: Dependencies, { signal }: Context): Promise<boolean> {
  const key = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
  const found = await deps.cluster.get(tenantControlPlane, key, { signal });
  return found === undefined || found.metadata.uid !== metadata.uid || hasShare(found);
}

function waiting(tcp: TenantControlPlane, message: string, { now }: Context): Visit<TenantControlPlane> {
  const at = { generation: tcp.metadata.generation ?? 0, now };
  const told = [
    { type: 'StoreReady', status: 'False', reason: 'Inheriting', message },
    { type: 'Ready', status: 'False', reason: 'Provisioning', message },
  ] as const;
  const conditions = setConditions(tcp.status?.conditions ?? [], told, at);
  return { status: { ...tcp.status, observedGeneration: at.generation, conditions }, afterMs: askAgainMs };
}

/** Makes this one the owner of what was passed on; returns what is still in the way. */
async function takeOver(
  tcp: TenantControlPlane,
  uids: { readonly from: string; readonly former: string },
  { deps, ctx: { signal } }: { readonly deps: Dependencies; readonly ctx: Context },
): Promise<readonly string[]> {
  const { namespace = '' } = tcp.metadata;
  const left = await Promise.all(
    passedOn(tcp).map(async ({ kind, name }) => {
      const object: Resource | undefined = await deps.cluster.get(kind, { namespace, name }, { signal });
      const controller = object === undefined ? undefined : controllerUid(object);
      if (object === undefined || controller === undefined || controller === tcp.metadata.uid) return [];
      if (controller !== uids.from) return controller === uids.former ? [`${kind.kind} ${name}`] : [];
      const patch = ownerPatch(object, uids.from, ownerReferenceOf(tcp));
      await deps.cluster.patch(kind, { namespace, name }, patch, { signal });
      return [];
    }),
  );
  return left.flat();
}
