import { annotations } from '../../../api/names.ts';
import { hasData } from '../../../api/steward/v1alpha1/data-owner.ts';
import { hasAdopted } from '../../../api/steward/v1alpha1/has-adopted.ts';
import { retainedControlPlane, retainedKey } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import { retainedTenant } from '../../../api/steward/v1alpha1/retained-tenant.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { UnreadableRecord } from '../../../api/steward/v1alpha1/unreadable-record.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome, Phase } from '../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';

/**
 * Reads what is retained of a deleted TenantControlPlane, until its successor has adopted it. Only one that this
 * controller has created itself may adopt the data, because anyone may write an owner reference.
 */
export function retainedPhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'retained',
    condition: 'TenantControlPlaneCreated',
    needs: ['found'],
    async run({ scp, tenant }, ctx) {
      const { name } = retainedKey(scp);
      const retained = await deps.cluster.get(retainedControlPlane, { name }, { signal: ctx.signal });
      if (retained === undefined) return { is: 'done' };
      if (retained.spec.controllerUID !== scp.metadata.uid)
        return tenant !== undefined && hasData(tenant) ? { is: 'done' } : foreign(name);
      const former = retainedTenant(retained);
      if (former instanceof UnreadableRecord) return unreadable(former);
      const found: Outcome<Scope> = { is: 'done', learned: { retained } };
      if (tenant === undefined) return retained.metadata.deletionTimestamp === undefined ? found : ending(name);
      if (tenant.metadata.deletionTimestamp !== undefined || hasAdopted(retained, tenant)) return found;
      if (hasData(tenant)) return conflict(name);
      return tenant.metadata.uid === retained.spec.adopterUID ? found : replace(deps, tenant, ctx);
    },
  };
}

function unreadable({ why }: UnreadableRecord): Outcome<Scope> {
  const message = `the record of the retained data cannot be read: ${why}; fix it in the RetainedControlPlane, or delete this object with the annotation ${annotations.abandonData}="true" to leave the data in the datastore`;
  return { is: 'waiting', reason: 'RecordUnreadable', message };
}

function foreign(name: string): Outcome<Scope> {
  const message = `a RetainedControlPlane ${name} exists, whose data is not that of this object; rename this object, or delete the RetainedControlPlane, which removes its data`;
  return { is: 'waiting', reason: 'OwnedByAnother', message };
}

function ending(name: string): Outcome<Scope> {
  const message = `RetainedControlPlane ${name} is being deleted, and another TenantControlPlane is created once it is gone`;
  return { is: 'waiting', reason: 'RetainingData', message };
}

function conflict(name: string): Outcome<Scope> {
  const message = `the data of a deleted TenantControlPlane is retained for another one, but the TenantControlPlane of this object has its own data: delete it with the annotation ${annotations.abandonData}="true", or delete RetainedControlPlane ${name}, which removes the retained data`;
  return { is: 'waiting', reason: 'OwnedByAnother', message };
}

/** Replaces a TenantControlPlane of unknown origin by one of ours. While it may not adopt the data, nothing is created for it. */
async function replace(
  { cluster }: Dependencies,
  tenant: TenantControlPlane,
  { signal }: Context,
): Promise<Outcome<Scope>> {
  const { namespace, name, uid, resourceVersion } = tenant.metadata;
  // Admission refuses other deletions. One that has adopted something meanwhile is checked once more.
  const body = { metadata: { uid, resourceVersion, annotations: { [annotations.deleteAnyway]: 'true' } } };
  const marked = await cluster.patch(tenantControlPlane, { namespace, name }, { type: 'merge', body }, { signal });
  const { resourceVersion: seen } = marked.metadata;
  await cluster.delete(tenantControlPlane, { namespace, name }, { uid, resourceVersion: seen, signal });
  const message = `TenantControlPlane ${name} is recreated so that it can adopt the retained data`;
  return { is: 'waiting', reason: 'RetainingData', message };
}
