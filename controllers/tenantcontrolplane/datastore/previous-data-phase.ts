import { annotations } from '../../../api/names.ts';
import type { PreviousShare } from '../../../api/steward/v1alpha1/migration-status.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { storeTrouble } from '../shared/store-trouble.ts';
import { openShare } from './migration/tenancies.ts';

/**
 * Removes the copies, with their users, that migrations left in the DataStore which the annotation names, or in one whose drain
 * requests it. The annotation is removed once the status records that: a later migration from the same DataStore must leave its copy again.
 */
export async function previousData(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const { storage } = tcp.status ?? {};
  const named = tcp.metadata.annotations?.[annotations.removePreviousData];
  if (isUnderWay(storage?.migration)) return { is: 'done' };
  const previous = storage?.previous ?? [];
  const wanted = previous.filter(({ dataStoreName }) => dataStoreName === named || isDrained(dataStoreName, deps));
  const gone: PreviousShare[] = [];
  if (named !== undefined && !wanted.some(({ dataStoreName }) => dataStoreName === named)) {
    ctx.event('Normal', 'NoPreviousData', `no copy of the data is left in DataStore ${named}`);
    await removeRequest(scope, deps, ctx);
  }
  for (const share of wanted) {
    const { open, store, tenancy } = await openShare(tcp, share, { deps, signal: ctx.signal });
    // A cache may be behind, and what is removed is gone.
    if (share.dataStoreName !== named && store.spec.drain?.previousCopies !== 'Remove') continue;
    await open.use((session) => session.remove(tenancy));
    gone.push(share);
  }
  if (gone.length === 0) return { is: 'done' };
  const where = [...new Set(gone.map(({ dataStoreName }) => dataStoreName))].join(', ');
  ctx.event('Normal', 'PreviousDataRemoved', `the copy of the data in DataStore ${where} was removed with its user`);
  return { is: 'done', learned: { previous: previous.filter((share) => !gone.includes(share)) } };
}

function isDrained(name: string, deps: Dependencies): boolean {
  const store = deps.cachedStore(name);
  // While its server cannot be used, nothing is tried: a change of its DataStore enqueues the tenant.
  return store?.spec.drain?.previousCopies === 'Remove' && storeTrouble(store) === undefined;
}

async function removeRequest({ tcp }: Readonly<Scope>, { cluster }: Dependencies, { signal }: Context): Promise<void> {
  const { namespace, name } = tcp.metadata;
  const body = { metadata: { annotations: { [annotations.removePreviousData]: null } } };
  await cluster.patch(tenantControlPlane, { namespace, name }, { type: 'merge', body }, { signal });
}
