import { keptTenant } from '../../../api/controlplane/kept-tenant.ts';
import { UnreadableRecord } from '../../../api/controlplane/unreadable-record.ts';
import type { Resource } from '../../../api/meta.ts';
import { ownerReferenceOf } from '../../../api/owner-reference.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { setConditions } from '../../../runtime/reconcile/conditions.ts';
import type { Context, ReconcileResult } from '../../../runtime/reconcile/controller.ts';
import { adoptedStatus } from './adopted-status.ts';
import { controllerUid, ownerPatch, passedOn } from './retained-objects.ts';
import type { Dependencies } from '../dependencies.ts';
import { findOwner } from './find-owner.ts';

/** Until the StewardControlPlane is read again, in milliseconds: no watch reports it here. */
const askAgainMs = 500;

/**
 * Runs before anything is created for a TenantControlPlane: it adopts the data that its StewardControlPlane retains from the
 * previous one, if the StewardControlPlane names it as the adopter, and waits while that may still happen. Undefined when there
 * is nothing to adopt. The reconcile that adopts does nothing else, since the names and the owner of the tenancy change with the
 * status.
 */
export async function adoptData(
  tcp: TenantControlPlane,
  deps: Dependencies,
  ctx: Context,
): Promise<ReconcileResult<TenantControlPlane> | undefined> {
  if (hasShare(tcp)) return undefined;
  const retainer = await findOwner(tcp, deps, ctx);
  if (retainer === undefined) return undefined;
  const former = keptTenant(retainer);
  if (former === undefined) return (await isOutdated(tcp, deps, ctx)) ? { afterMs: askAgainMs } : undefined;
  const { name = '', uid = '' } = retainer.metadata;
  if (former instanceof UnreadableRecord) {
    return waiting(tcp, `the retained record of StewardControlPlane ${name} cannot be read: ${former.why}`, ctx);
  }
  if (retainer.status?.keptTenancy?.heirUID !== tcp.metadata.uid) {
    const message = `waiting for StewardControlPlane ${name} to let this TenantControlPlane adopt the data retained from the previous one`;
    return waiting(tcp, message, ctx);
  }
  const inTheWay = await takeOver(tcp, { from: uid, former: former.metadata.uid ?? '' }, { deps, ctx });
  if (inTheWay.length > 0) {
    const message = `waiting for ${inTheWay.join(', ')} of the previous TenantControlPlane to be released or deleted`;
    return waiting(tcp, message, ctx);
  }
  ctx.event(
    'Normal',
    'DataInherited',
    `adopted the data of the TenantControlPlane with UID ${former.metadata.uid ?? ''}`,
  );
  return { status: adoptedStatus(tcp, former, ctx.now), afterMs: 0 };
}

function hasShare({ status }: TenantControlPlane): boolean {
  return status?.storage?.setup?.schema !== undefined;
}

/** True when the cached object is older than its adoption, after which nothing is retained any more. */
async function isOutdated({ metadata }: TenantControlPlane, deps: Dependencies, { signal }: Context): Promise<boolean> {
  const key = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
  const found = await deps.cluster.get(tenantControlPlane, key, { signal });
  return found === undefined || found.metadata.uid !== metadata.uid || hasShare(found);
}

function waiting(tcp: TenantControlPlane, message: string, { now }: Context): ReconcileResult<TenantControlPlane> {
  const at = { generation: tcp.metadata.generation ?? 0, now };
  const told = [
    { type: 'StoreReady', status: 'False', reason: 'AdoptingData', message },
    { type: 'Ready', status: 'False', reason: 'Provisioning', message },
  ] as const;
  const conditions = setConditions(tcp.status?.conditions ?? [], told, at);
  return { status: { ...tcp.status, observedGeneration: at.generation, conditions }, afterMs: askAgainMs };
}

/** Makes this TenantControlPlane the owner of the released objects; returns those that still belong to the previous one. */
async function takeOver(
  tcp: TenantControlPlane,
  uids: { readonly from: string; readonly former: string },
  { deps, ctx: { signal } }: { readonly deps: Dependencies; readonly ctx: Context },
): Promise<readonly string[]> {
  const { namespace = '' } = tcp.metadata;
  const left = await Promise.all(
    passedOn(tcp, deps.addons).map(async ({ kind, name }) => {
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
