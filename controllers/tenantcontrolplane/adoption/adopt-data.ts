import type { Resource } from '../../../api/meta.ts';
import { ownerReferenceOf } from '../../../api/meta.ts';
import { hasData } from '../../../api/steward/v1alpha1/data-owner.ts';
import { retainedControlPlane, retainedKey } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import { retainedTenant } from '../../../api/steward/v1alpha1/retained-tenant.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { UnreadableRecord } from '../../../api/steward/v1alpha1/unreadable-record.ts';
import { setConditions } from '../../../runtime/reconcile/conditions.ts';
import type { Context, ReconcileResult } from '../../../runtime/reconcile/controller.ts';
import { adoptedStatus } from './adopted-status.ts';
import { controllerUid, ownerPatch, passedOn } from './retained-objects.ts';
import type { Dependencies } from '../dependencies.ts';

/**
 * Runs before anything is created for a TenantControlPlane: it adopts the data that its RetainedControlPlane has, if that
 * names it as the adopter, and waits while that may still happen. Undefined when there is nothing to adopt. The reconcile
 * that adopts does nothing else, since the names and the owner of the tenancy change with the status. What it waits for is
 * watched.
 */
export async function adoptData(
  tcp: TenantControlPlane,
  deps: Dependencies,
  ctx: Context,
): Promise<ReconcileResult<TenantControlPlane> | undefined> {
  if (hasData(tcp)) return undefined;
  const { uid } = tcp.metadata;
  const { name } = retainedKey(tcp);
  const retained = await deps.cluster.get(retainedControlPlane, { name }, { signal: ctx.signal });
  if (retained === undefined) return (await isOutdated(tcp, deps, ctx)) ? {} : undefined;
  const former = retainedTenant(retained);
  if (former instanceof UnreadableRecord) {
    return waiting(tcp, `the record of RetainedControlPlane ${name} cannot be read: ${former.why}`, ctx);
  }
  if (retained.spec.adopterUID !== uid) {
    const message = `RetainedControlPlane ${name} has the data of the previous TenantControlPlane: waiting until its spec.adopterUID is ${uid}, which lets this one adopt the data, or until it is deleted, which removes the data`;
    return waiting(tcp, message, ctx);
  }
  const uids = { from: retained.metadata.uid, former: former.metadata.uid };
  const inTheWay = await takeOver(tcp, uids, { deps, ctx });
  if (inTheWay.length > 0) {
    const message = `waiting for ${inTheWay.join(', ')} of the previous TenantControlPlane to be released or deleted`;
    return waiting(tcp, message, ctx);
  }
  ctx.event('Normal', 'DataAdopted', `adopted the data of the TenantControlPlane with UID ${uids.former}`);
  return { status: adoptedStatus(tcp, former, ctx.now), afterMs: 0 };
}

/**
 * True when the cached object is older than its adoption, after which nothing is retained anymore. The cache will report the
 * newer one.
 */
async function isOutdated(
  { metadata }: TenantControlPlane,
  deps: Dependencies,
  { firstVersion, signal }: Context,
): Promise<boolean> {
  // The API server has just answered with this state.
  if (firstVersion !== undefined) return false;
  const key = { namespace: metadata.namespace, name: metadata.name };
  const found = await deps.cluster.get(tenantControlPlane, key, { signal });
  return found?.metadata.uid !== metadata.uid || hasData(found);
}

function waiting(tcp: TenantControlPlane, message: string, { now }: Context): ReconcileResult<TenantControlPlane> {
  const at = { generation: tcp.metadata.generation, now };
  const told = [
    { type: 'StoreReady', status: 'False', reason: 'AdoptingData', message },
    { type: 'Ready', status: 'False', reason: 'Provisioning', message },
  ] as const;
  const conditions = setConditions(tcp.status?.conditions ?? [], told, at);
  return { status: { ...tcp.status, observedGeneration: at.generation, conditions } };
}

/** Makes this TenantControlPlane the owner of the released objects; returns those that still belong to the previous one. */
async function takeOver(
  tcp: TenantControlPlane,
  uids: { readonly from: string; readonly former: string },
  { deps, ctx: { signal } }: { readonly deps: Dependencies; readonly ctx: Context },
): Promise<readonly string[]> {
  const { namespace } = tcp.metadata;
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
