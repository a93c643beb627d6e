import { keptTenant } from '../../../api/controlplane/kept-tenant.ts';
import { UnreadableRecord } from '../../../api/controlplane/unreadable-record.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { annotations } from '../../../api/names.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome, Phase } from '../../../runtime/phases.ts';
import { isLetGo } from '../let-go.ts';
import { dataOwner, keptRecord } from '../components/kept-record.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';

/**
 * Keeps on record what a TenantControlPlane leaves that was deleted alone, until the one that took its place has taken it over.
 * Only one that this controller has made itself is that heir: anybody may write an owner reference.
 */
export function keptPhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'kept',
    condition: 'TenantControlPlaneCreated',
    needs: ['found'],
    async run({ scp, tenant }, ctx) {
      if (isLetGo(scp, tenant)) return { is: 'done', learned: { keptTenancy: 'passed on' } };
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
  const message = `where the data is that is kept cannot be read: ${why}; put it right, or delete this object with the annotation ${annotations.abandonData}="true", which leaves the data in the store`;
  return { is: 'waiting', reason: 'RecordUnreadable', message };
}

const hasShare = ({ status }: TenantControlPlane): boolean => status?.storage?.setup?.schema !== undefined;

function keep(tenant: TenantControlPlane, former: TenantControlPlane | undefined): Outcome<Scope> {
  const asks = tenant.status?.conditions?.some(({ type, reason }) => type === 'Deleting' && reason === 'HandingOver');
  if (asks !== true || former?.metadata.uid === tenant.metadata.uid) return { is: 'done' };
  if (former !== undefined && dataOwner(former) !== dataOwner(tenant)) return conflict(tenant);
  return { is: 'done', learned: { keptTenancy: keptRecord(tenant) } };
}

function conflict({ metadata: { name = '' } }: TenantControlPlane): Outcome<Scope> {
  const message = `the data of a TenantControlPlane that is gone is kept for another one, and TenantControlPlane ${name} has data of its own: delete that one with the annotation ${annotations.abandonData}="true", or this object, which removes what is kept`;
  return { is: 'waiting', reason: 'OwnedByAnother', message };
}

/** Until it is looked again at what the cache was too old for, in milliseconds. */
const lookAgainMs = 1_000;

/** Another one is made for one of which nobody knows who made it. As long as it is not the heir nothing is made for it. */
async function replace(
  { cluster }: Dependencies,
  tenant: TenantControlPlane,
  { signal }: Context,
): Promise<Outcome<Scope>> {
  if (hasShare(tenant)) return conflict(tenant);
  const { namespace = '', name = '', uid = '', resourceVersion } = tenant.metadata;
  // The copy that is visited may be older than the naming of the heir, or than the end of the record.
  const keeper = await cluster.get(stewardControlPlane, { namespace, name }, { signal });
  const kept = keeper?.status?.keptTenancy;
  if (kept === undefined || kept.heirUID === uid) {
    const message = `TenantControlPlane ${name} takes over the data that is kept`;
    return { is: 'waiting', reason: 'HandingOver', message, afterMs: lookAgainMs };
  }
  // Admission lets no other go alone. One that has taken something over meanwhile is looked at once more.
  const body = { metadata: { uid, resourceVersion, annotations: { [annotations.deleteAnyway]: 'true' } } };
  const marked = await cluster.patch(tenantControlPlane, { namespace, name }, { type: 'merge', body }, { signal });
  const { resourceVersion: seen = '' } = marked.metadata;
  await cluster.delete(tenantControlPlane, { namespace, name }, { uid, resourceVersion: seen, signal });
  const message = `TenantControlPlane ${name} is made once more, so that it can take over the data that is kept`;
  return { is: 'waiting', reason: 'HandingOver', message };
}
