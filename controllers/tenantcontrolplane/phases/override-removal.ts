import { kinds } from '../../../api/core/kinds.ts';
import { annotations, tenantObjects } from '../../../api/names.ts';
import type { OverrideShare } from '../../../api/steward/v1alpha1/tenant-control-plane-status.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { namingStore } from '../../../stores/store-access.ts';
import { distinctShares, isSameShare, overrideTenancy } from '../components/override-shares.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { isRolling } from '../state.ts';

/**
 * Removes the shares that the spec does not name any more, once no pod uses them: user, role and keys, and with the last of them
 * the Secret that opened the stores. What a resource leaves in a share that others still use goes with that share.
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
  if (isRolling(scope.deployment, tcp.spec.controlPlane.deployment.replicas)) return { is: 'done' };
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
  deps.memory.forget(scope.tcp.metadata.uid ?? '', `override ${share.dataStoreName}`);
  const message = `DataStore ${share.dataStoreName} holds nothing of this tenant any more: spec.dataStoreOverrides does not name it`;
  ctx.event('Normal', 'OverrideRemoved', message);
}

function missingStore({ dataStoreName, resource }: OverrideShare): Outcome<Scope> {
  const message = `DataStore ${dataStoreName} does not exist, and what it held of ${resource} is to be removed: create it again, or set the annotation ${annotations.abandonData} to "true" if it is lost; what runs is left alone`;
  return { is: 'waiting', reason: 'DataStoreNotFound', message };
}

async function removeSecret(
  { tcp, observed }: Readonly<Scope>,
  { cluster }: Dependencies,
  ctx: Context,
): Promise<void> {
  const { namespace = '', name: tenant = '', uid } = tcp.metadata;
  const name = tenantObjects(tenant).dataStoreOverridesCertificate;
  const secret = observed.secrets.get(name)?.metadata;
  if (secret?.ownerReferences?.some((owner) => owner.uid === uid) !== true) return;
  const options = { signal: ctx.signal, ...(secret.uid !== undefined && { uid: secret.uid }) };
  await cluster.delete(kinds.Secret, { namespace, name }, options);
}
