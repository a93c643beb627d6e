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
import { Compactions } from './compaction/compactions.ts';
import { Defragmentations } from './defragmentation/defragmentations.ts';
import type { Dependencies, ProbedStore } from './dependencies.ts';
import { Verifications } from './isolation/verifications.ts';
import { Probes } from './probes.ts';
import { SecretUsers } from './secret-users.ts';
import type { DrainFacts } from './status.ts';
import { fullness, holdersOf, keptBecause, statusInUse, statusOf, usersOf, withUsersOf } from './status.ts';

/** Until the next check which tenants still use a datastore that is being deleted, in milliseconds. */
const unwatchedPaceMs = 60_000;

/**
 * Reports for each DataStore whether it can be used and by which tenants it is used, and prevents its deletion while tenants have data in
 * it. It changes nothing about tenants. In the datastore it publishes up to where that was compacted, makes and removes the canary tenancies
 * with which it verifies isolation, and compacts its history early and defragments it if the spec requests that.
 */
export function dataStoreController(deps: Dependencies): Controller<DataStore> {
  const probes = new Probes(deps.clock, deps.memory);
  const compactions = new Compactions(deps.clock, deps.memory);
  const defragmentations = new Defragmentations(deps.clock, deps.memory);
  const verifications = new Verifications({ ...deps, intervalMs: deps.isolationIntervalMs });
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
      // The credentials are read once.
      let opening: Promise<ProbedStore> | undefined;
      const open = () => (opening ??= deps.stores.open(store, ctx.signal));
      const [{ finding, afterMs }] = await Promise.all([
        probes.ask(store, open),
        deps.markSecrets?.(store, ctx.signal),
      ]);
      // Read last, because tenants may have changed during the check of the datastore.
      const tenants = deps.tenants();
      const now = usersOf(nameOf(store), { ...deps, tenants });
      const usedBy = withUsersOf(deps.namespace, store.status?.usedBy ?? [], now);
      const status = statusOf({ ...{ store, usedBy, finding, now: ctx.now }, drain: drainFacts(deps, tenants) });
      announce(store, status, ctx);
      const compacted = await compactions.after(store, { status, afterMs }, { open, ctx });
      const verified = await verifications.after(store, compacted, { open, ctx });
      const result = await defragmentations.after(store, verified, { open, ctx });
      const hasMore = compacted.hasMore || result.hasMore === true;
      return { ...result, hasMore, stored: (after) => verified.stored?.(after) };
    },
    async finalize(store, ctx): Promise<LastReconcile<DataStore>> {
      // The manager of other namespaces may be gone: what it reported does not count here.
      const name = nameOf(store);
      const all = await deps.allTenants(ctx.signal);
      const { tenants } = all;
      const why = keptBecause(holdersOf(name, all, deps.defaultDataStore));
      if (why.length === 0) return { finished: true };
      const usedBy = usersOf(name, { ...deps, tenants });
      const message = `the datastore is still needed: ${why.map(({ reason, remedy }) => `${reason}: ${remedy}`).join('; ')}`;
      ctx.event('Warning', 'InUse', message);
      const drain = drainFacts(deps, tenants);
      const status = statusInUse(store, { usedBy, message, drain }, ctx.now);
      // No watch reports tenants of other namespaces, or what is retained of deleted ones.
      return { finished: false, status, afterMs: unwatchedPaceMs };
    },
  };
}

function nameOf({ metadata }: DataStore): string {
  return metadata.name;
}

/** An Event when the store becomes usable or unusable, is unusable for another reason, or fills up. */
function announce(store: DataStore, after: DataStoreStatus, ctx: Context): void {
  const full = fullness(store, after);
  if (full !== undefined && fullness(store, store.status) === undefined)
    ctx.event('Warning', 'Full', `the datastore ${full}`);
  const drained = (status: DataStoreStatus | undefined) => status?.conditions?.find(({ type }) => type === 'Drained');
  const progress = drained(after);
  if (progress !== undefined && progress.reason !== drained(store.status)?.reason)
    ctx.event(progress.reason === 'Blocked' ? 'Warning' : 'Normal', progress.reason, progress.message);
  const ready = (status: DataStoreStatus | undefined) => status?.conditions?.find(({ type }) => type === 'Ready');
  const [before, now] = [ready(store.status), ready(after)];
  if (now === undefined || (before?.status === now.status && before.reason === now.reason)) return;
  if (now.status === 'True')
    ctx.event('Normal', 'Ready', `the datastore can be used, version ${after.serverVersion ?? 'unknown'}`);
  else ctx.event('Warning', now.reason, now.message);
}

/** What the progress of a drain is computed from. */
function drainFacts(deps: Dependencies, tenants: readonly TenantControlPlane[]): DrainFacts {
  const { defaultDataStore, namespace } = deps;
  return { tenants, retained: deps.retained?.() ?? [], defaultDataStore, namespace };
}

/** What a drained DataStore reports of a tenant. */
function drainText(tcp: TenantControlPlane | undefined): string {
  const { drain, migration, dataStoreName } = tcp?.status?.storage ?? {};
  return drain === undefined ? '' : JSON.stringify([drain, migration?.phase, dataStoreName]);
}

function watches(secretUsers: SecretUsers, defaultDataStore: string): readonly Watch[] {
  const storesOf = (tcp: TenantControlPlane | undefined): readonly string[] =>
    tcp === undefined ? [] : dataStoresOf(tcp, defaultDataStore);
  return [
    {
      kind: tenantControlPlane,
      // A DataStore is not reconciled for every status update of its thousand tenants: only when one comes, leaves, or is moved because the
      // DataStore is drained.
      keys(old, now): readonly Key[] {
        const [before, after] = [storesOf(old), storesOf(now)];
        const left = before.filter((name) => !after.includes(name));
        const entered = after.filter((name) => !before.includes(name));
        const moving = drainText(old) === drainText(now) ? [] : [...before, ...after];
        return [...new Set([...left, ...entered, ...moving])].map((name) => ({ name }));
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
