import { kinds } from '../../api/core/kinds.ts';
import type { Key } from '../../api/meta.ts';
import { annotations, finalizers } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { DataStore, DataStoreStatus } from '../../api/steward/v1alpha1/data-store.ts';
import { dataStoresOf } from '../../api/steward/v1alpha1/data-stores-of.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context, Controller, LastReconcile, ReconcileResult, Watch } from '../../runtime/reconcile/controller.ts';
import { access } from './access.ts';
import type { Dependencies } from './dependencies.ts';
import { Probes } from './probes.ts';
import { SecretUsers } from './secret-users.ts';
import { fullness, keptBecause, statusInUse, statusOf, usersOf, withUsersOf } from './status.ts';

/** Until it is looked again who still uses a store that is to go, in milliseconds. */
const unwatchedPaceMs = 60_000;

/**
 * Reports for each DataStore whether it can be used and by which tenants it is used, and prevents its deletion while tenants have data in
 * it. It changes nothing in the datastore and nothing about running tenants.
 */
export function dataStoreController(deps: Dependencies): Controller<DataStore> {
  const probes = new Probes(deps.clock, deps.memory);
  const secretUsers = new SecretUsers(deps.memory);
  return {
    name: 'datastore',
    kind: dataStore,
    access,
    finalizers: [finalizers.dataStoreInUse],
    concernsMany: true,
    watches: watches(secretUsers, deps.defaultDataStore),
    paused: ({ metadata }) =>
      metadata.annotations?.[annotations.paused] === undefined ? undefined : `annotation ${annotations.paused} is set`,
    async reconcile(store, ctx): Promise<ReconcileResult<DataStore>> {
      secretUsers.learn(store);
      const [{ finding, afterMs }] = await Promise.all([
        probes.ask(store, () => deps.stores.open(store, ctx.signal)),
        deps.markSecrets?.(store, ctx.signal),
      ]);
      // Read last, because tenants may have changed during the check of the datastore.
      const now = usersOf(nameOf(store), { ...deps, tenants: deps.tenants() });
      const usedBy = withUsersOf(deps.namespace, store.status?.usedBy ?? [], now);
      const status = statusOf({ store, usedBy, finding, now: ctx.now });
      announce(store, status, ctx);
      return { status, afterMs };
    },
    async finalize(store, ctx): Promise<LastReconcile<DataStore>> {
      // The manager of other namespaces may be gone: what it reported does not count here.
      const name = nameOf(store);
      const { tenants, unknown } = await deps.allTenants(ctx.signal);
      const usedBy = usersOf(name, { ...deps, tenants });
      if (usedBy.length === 0 && unknown.length === 0) return { finished: true };
      const message = keptBecause(usedBy, unknown);
      ctx.event('Warning', 'InUse', message);
      const status = statusInUse(store, { usedBy, message }, ctx.now);
      // No watch reports tenants of other namespaces, or what is retained of deleted ones.
      return { finished: false, status, afterMs: unwatchedPaceMs };
    },
  };
}

function nameOf({ metadata }: DataStore): string {
  return metadata.name;
}

/** An Event when the store becomes usable, stops to be, is unusable for another reason, or fills up. */
function announce(store: DataStore, after: DataStoreStatus, ctx: Context): void {
  const full = fullness(store, after);
  if (full !== undefined && fullness(store, store.status) === undefined)
    ctx.event('Warning', 'Full', `the datastore ${full}`);
  const ready = (status: DataStoreStatus | undefined) => status?.conditions?.find(({ type }) => type === 'Ready');
  const [before, now] = [ready(store.status), ready(after)];
  if (now === undefined || (before?.status === now.status && before.reason === now.reason)) return;
  if (now.status === 'True')
    ctx.event('Normal', 'Ready', `the datastore can be used, version ${after.serverVersion ?? 'unknown'}`);
  else ctx.event('Warning', now.reason, now.message);
}

function watches(secretUsers: SecretUsers, defaultDataStore: string): readonly Watch[] {
  const storesOf = (tcp: TenantControlPlane | undefined): readonly string[] =>
    tcp === undefined ? [] : dataStoresOf(tcp, defaultDataStore);
  return [
    {
      kind: tenantControlPlane,
      // Only creation and deletion matter: a DataStore is not reconciled for every status update of its thousand tenants.
      keys(old, now): readonly Key[] {
        const [before, after] = [storesOf(old), storesOf(now)];
        const left = before.filter((name) => !after.includes(name));
        const entered = after.filter((name) => !before.includes(name));
        return [...left, ...entered].map((name) => ({ name }));
      },
    } satisfies Watch<TenantControlPlane>,
    {
      kind: kinds.Secret,
      // Any Secret may become that of a store, so all are followed; what people write into their metadata is not kept.
      identityOnly: true,
      keys(old, now): readonly Key[] {
        const { namespace = '', name = '' } = (now ?? old)?.metadata ?? {};
        return secretUsers.usersOf({ namespace, name });
      },
    },
  ];
}
