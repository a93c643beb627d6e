import { kinds } from '../../../../api/core/kinds.ts';
import { annotations, tenantObjects } from '../../../../api/names.ts';
import type { OverrideShare } from '../../../../api/steward/v1alpha1/tenant-control-plane-status.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { namingStore } from '../../../../stores/store-access.ts';
import { distinctShares, isSameShare, overrideTenancy } from './override-shares.ts';
import type { Dependencies } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import type { Scope } from '../../scope.ts';
import { wantedReplicas } from '../../shared/replicas.ts';
import { isRolling } from '../../shared/state.ts';

/**
 * Removes the tenancies that the spec no longer names, once no pod uses them: user, role and keys, and with the last of them the
 * Secret with the credentials. What a resource leaves in a tenancy that other resources still use is removed with that tenancy.
 */
export async function overrideRemoval(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const { wanted, shares } = needed(scope.overridePlan, 'overridePlan');
  const obsolete = shares.filter((share) => !wanted.includes(share));
  if (obsolete.length === 0 && wanted.length > 0) return { is: 'done' };
  const isRollingOut = isRolling(scope.deployment, wantedReplicas(tcp, scope.deployment));
  if (isRollingOut || scope.podsAreFormer === true) return { is: 'done' };
  const unused = distinctShares(obsolete).filter((share) => !wanted.some((other) => isSameShare(other, share)));
  for (const share of unused) {
    if (scope.observed.overrideStores.has(share.dataStoreName)) await removeShare(scope, share, deps, ctx);
    else if (tcp.metadata.annotations?.[annotations.abandonData] !== 'true') return missingStore(share);
  }
  if (wanted.length === 0) await removeSecret(scope, deps, ctx);
  return { is: 'done', learned: { overridesLeft: wanted } };
}

async function removeShare(
  scope: Readonly<Scope>,
  share: OverrideShare,
  deps: Dependencies,
  ctx: Context,
): Promise<void> {
  const store = needed(scope.observed.overrideStores.get(share.dataStoreName), share.dataStoreName);
  const open = await namingStore(store, deps.stores.open(store, ctx.signal));
  const tenancy = overrideTenancy(scope.tcp, share, store);
  await namingStore(
    store,
    open.use((session) => session.remove(tenancy)),
  );
  deps.memory.forget(scope.tcp.metadata.uid, `override ${share.dataStoreName}`);
  const message = `removed the data of this tenant from DataStore ${share.dataStoreName}: spec.dataStoreOverrides no longer names it`;
  ctx.event('Normal', 'OverrideRemoved', message);
}

function missingStore({ dataStoreName, resource }: OverrideShare): Outcome<Scope> {
  const message = `DataStore ${dataStoreName} does not exist, but its data of ${resource} must be removed: create it again, or set the annotation ${annotations.abandonData} to "true" if the data is lost; running pods are left alone`;
  return { is: 'waiting', reason: 'DataStoreNotFound', message };
}

async function removeSecret(
  { tcp, observed }: Readonly<Scope>,
  { cluster }: Dependencies,
  ctx: Context,
): Promise<void> {
  const { namespace, name: tenant, uid } = tcp.metadata;
  const name = tenantObjects(tenant).dataStoreOverridesCertificate;
  const secret = observed.secrets.get(name)?.metadata;
  if (secret?.ownerReferences?.some((owner) => owner.uid === uid) !== true) return;
  await cluster.delete(kinds.Secret, { namespace, name }, { signal: ctx.signal, uid: secret.uid });
}
