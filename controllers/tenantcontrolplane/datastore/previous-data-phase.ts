import { annotations } from '../../../api/names.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { openShare } from './migration/tenancies.ts';

/**
 * Removes the copies, with their users, that migrations left in the DataStore which the annotation names. The annotation is
 * removed once the status records that: a later migration from the same DataStore must leave its copy again.
 */
export async function previousData(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const { storage } = tcp.status ?? {};
  const named = tcp.metadata.annotations?.[annotations.removePreviousData];
  if (named === undefined || isUnderWay(storage?.migration)) return { is: 'done' };
  const previous = storage?.previous ?? [];
  const gone = previous.filter(({ dataStoreName }) => dataStoreName === named);
  if (gone.length === 0) {
    ctx.event('Normal', 'NoPreviousData', `no copy of the data is left in DataStore ${named}`);
    await removeRequest(scope, deps, ctx);
    return { is: 'done' };
  }
  for (const share of gone) {
    const { open, tenancy } = await openShare(tcp, share, { deps, signal: ctx.signal });
    await open.use((session) => session.remove(tenancy));
  }
  ctx.event('Normal', 'PreviousDataRemoved', `the copy of the data in DataStore ${named} was removed with its user`);
  return { is: 'done', learned: { previous: previous.filter((share) => !gone.includes(share)) } };
}

async function removeRequest({ tcp }: Readonly<Scope>, { cluster }: Dependencies, { signal }: Context): Promise<void> {
  const { namespace, name } = tcp.metadata;
  const body = { metadata: { annotations: { [annotations.removePreviousData]: null } } };
  await cluster.patch(tenantControlPlane, { namespace, name }, { type: 'merge', body }, { signal });
}
