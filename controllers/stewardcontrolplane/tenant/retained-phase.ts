import { keptTenant } from '../../../api/controlplane/kept-tenant.ts';
import { UnreadableRecord } from '../../../api/controlplane/unreadable-record.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { annotations } from '../../../api/names.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome, Phase } from '../../../runtime/reconcile/phases.ts';
import { isReleasing } from './is-releasing.ts';
import { dataOwner, keptRecord } from './retained-record.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';

/**
 * Records what is retained of a deleted TenantControlPlane, until its successor has adopted it. Only one that this
 * controller has created itself may adopt the data, because anyone may write an owner reference.
 */
export function retainedPhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'kept',
    condition: 'TenantControlPlaneCreated',
    needs: ['found'],
    async run({ scp, tenant }, ctx) {
      if (isReleasing(scp, tenant)) return { is: 'done', learned: { keptTenancy: 'passed on' } };
      const former = keptTenant(scp);
      if (former instanceof UnreadableRecord) return unreadable(former);
      if (tenant === undefined) return { is: 'done' };
      if (tenant.metadata.deletionTimestamp !== undefined) return keep(tenant, former);
      if (former === undefined) return { is: 'done' };
      if (tenant.metadata.uid !== scp.status?.keptTenancy?.heirUID) return replace(deps, tenant, ctx);
      if (!hasShare(tenant)) return { is: 'done' };
      if (dataOwner(tenant) !== dataOwner(former)) return conflict(tenant);
      return { is: 'done', learned: { keptTenancy: 'passed on' } };
    },
  };
}

function unreadable({ why }: UnreadableRecord): Outcome<Scope> {
  const message = `the record of the retained data cannot be read: ${why}; fix it, or delete this object with the annotation ${annotations.abandonData}="true" to leave the data in the datastore`;
  return { is: 'waiting', reason: 'RecordUnreadable', message };
}

const hasShare = ({ status }: TenantControlPlane): boolean => status?.storage?.setup?.schema !== undefined;

function keep(tenant: TenantControlPlane, former: TenantControlPlane | undefined): Outcome<Scope> {
  const asks = tenant.status?.conditions?.some(({ type, reason }) => type === 'Deleting' && reason === 'RetainingData');
  if (asks !== true || former?.metadata.uid === tenant.metadata.uid) return { is: 'done' };
  if (former !== undefined && dataOwner(former) !== dataOwner(tenant)) return conflict(tenant);
  return { is: 'done', learned: { keptTenancy: keptRecord(tenant) } };
}

function conflict({ metadata: { name = '' } }: TenantControlPlane): Outcome<Scope> {
  const message = `the data of a deleted TenantControlPlane is retained for another one, but TenantControlPlane ${name} has its own data: delete that one with the annotation ${annotations.abandonData}="true", or delete this object, which removes the retained data`;
  return { is: 'waiting', reason: 'OwnedByAnother', message };
}

/** Until it is looked again at what the cache was too old for, in milliseconds. */
const lookAgainMs = 1_000;

/** A TenantControlPlane of unknown origin is replaced by one of ours. As long as it may not adopt the data, nothing is created for it. */
async function replace(
  { cluster }: Dependencies,
  tenant: TenantControlPlane,
  { signal }: Context,
): Promise<Outcome<Scope>> {
  if (hasShare(tenant)) return conflict(tenant);
  const { namespace = '', name = '', uid = '', resourceVersion } = tenant.metadata;
  // The copy that is reconciled may be older than the naming of who may adopt the data, or than the end of the record.
  const retainer = await cluster.get(stewardControlPlane, { namespace, name }, { signal });
  const kept = retainer?.status?.keptTenancy;
  if (kept === undefined || kept.heirUID === uid) {
    const message = `TenantControlPlane ${name} adopts the retained data`;
    return { is: 'waiting', reason: 'RetainingData', message, afterMs: lookAgainMs };
  }
  // Admission refuses other deletions. One that has adopted something meanwhile is checked once more.
  const body = { metadata: { uid, resourceVersion, annotations: { [annotations.deleteAnyway]: 'true' } } };
  const marked = await cluster.patch(tenantControlPlane, { namespace, name }, { type: 'merge', body }, { signal });
  const { resourceVersion: seen = '' } = marked.metadata;
  await cluster.delete(tenantControlPlane, { namespace, name }, { uid, resourceVersion: seen, signal });
  const message = `TenantControlPlane ${name} is recreated so that it can adopt the retained data`;
  return { is: 'waiting', reason: 'RetainingData', message };
}
