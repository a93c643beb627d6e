import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { dataStoresOf } from '../../../../api/steward/v1alpha1/data-stores-of.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isolationRefusal } from './isolation-refusal.ts';
import { reserveRefusal } from './reserve-refusal.ts';

/** True when a change of a DataStore may let it accept a tenant that it refused, or changes why it refuses. */
export function mayTakeMore(old: DataStore | undefined, now: DataStore | undefined): boolean {
  if (old === undefined || now?.metadata.uid !== old.metadata.uid) return true;
  const [before, after] = [old, now].map(({ status }) => ({
    users: status?.usedBy?.length ?? 0,
    size: status?.sizeBytes ?? 0,
  }));
  if ((after?.users ?? 0) < (before?.users ?? 0)) return true;
  if (now.spec.placement?.capacity?.size !== undefined && (after?.size ?? 0) < (before?.size ?? 0)) return true;
  return JSON.stringify(factsOf(old)) !== JSON.stringify(factsOf(now));
}

/** True when a tenant leaves a DataStore, or is deleted. */
export function leavesStore(
  old: TenantControlPlane | undefined,
  now: TenantControlPlane | undefined,
  defaultDataStore: string,
): boolean {
  if (old === undefined) return false;
  if (now?.metadata.uid !== old.metadata.uid) return true;
  const after = dataStoresOf(now, defaultDataStore);
  return dataStoresOf(old, defaultDataStore).some((store) => !after.includes(store));
}

/** Everything that placement rules depend on, except how full the datastore is. */
function factsOf(store: DataStore): readonly unknown[] {
  const { metadata, status } = store;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const { labels = {}, generation, deletionTimestamp } = metadata;
  return [
    Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)),
    generation,
    deletionTimestamp,
    ready?.status,
    ready?.message,
    ready?.observedGeneration,
    isolationRefusal(store),
    reserveRefusal(store),
  ];
}
