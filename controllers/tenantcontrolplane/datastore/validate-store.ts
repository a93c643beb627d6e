import { requestedDataStore } from '../../../api/steward/v1alpha1/requested-data-store.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { tenancyNameProblem } from '../../../stores/tenancy-names.ts';
import { hasRun } from './overrides/override-shares.ts';
import { drainedStore, missingStore, refusedStore } from './data-store-drivers.ts';
import type { DataStoreDrivers, DataStoreRefusals } from './data-store-drivers.ts';
import { validateOverrides } from './overrides/validate-overrides.ts';

interface StoreRequest {
  readonly tcp: TenantControlPlane;
  readonly old: TenantControlPlane | undefined;
  readonly drivers: DataStoreDrivers;
  readonly refusals?: DataStoreRefusals | undefined;
  /** DataStores that are being drained. */
  readonly drained?: ReadonlySet<string> | undefined;
}

function validateChoice({ tcp, old, drivers, refusals, drained }: StoreRequest): readonly InvalidInput[] {
  const name = tcp.spec.dataStore ?? '';
  const before = old?.spec.dataStore ?? '';
  if (name === '' || name === before) return [];
  if (!drivers.has(name)) return [missingStore('spec.dataStore', name)];
  const refusal = refusals?.get(name);
  // A tenant may stay where its data already is: a migration may be canceled.
  if (homeOf(old).store === name) return [];
  if (refusal !== undefined) return [refusedStore('spec.dataStore', name, refusal)];
  // A new tenant may come from a template: it is admitted with a warning, and migrated like the others.
  return old !== undefined && drained?.has(name) === true ? [drainedStore('spec.dataStore', name)] : [];
}

/**
 * The DataStore of the tenant's tenancy, empty while it has none, and whether anything may have been written there. Only the old
 * object's status counts: the status is another resource to the API server.
 */
function homeOf(old: TenantControlPlane | undefined): { readonly store: string; readonly hasRun: boolean } {
  const { setup, dataStoreName = '' } = old?.status?.storage ?? {};
  if (setup?.schema === undefined) return { store: '', hasRun: false };
  return { store: dataStoreName, hasRun: hasRun(old?.status) };
}

function overrides({ tcp, old, drivers, refusals, drained }: StoreRequest): readonly InvalidInput[] {
  const { dataStoreOverrides: requested = [] } = tcp.spec;
  // Where the data belongs, which a drain decides as well.
  const dataStore = requestedDataStore({ spec: tcp.spec, status: old?.status });
  const accepted = old?.spec.dataStoreOverrides ?? [];
  const was = old === undefined ? '' : requestedDataStore(old);
  const same = JSON.stringify(requested) === JSON.stringify(accepted) && dataStore === was;
  if (old !== undefined && same) return [];
  const home = homeOf(old);
  const moves = home.hasRun && dataStore !== '' && dataStore !== home.store;
  return validateOverrides({
    overrides: requested,
    mains: [home.store, dataStore].filter((name) => name !== ''),
    drivers,
    refusals,
    drained,
    accepted,
    ...(home.hasRun && { held: accepted }),
    ...(moves && { movesTo: dataStore }),
  });
}

function validateName({ tcp, old }: StoreRequest): readonly InvalidInput[] {
  const fields = ['dataStoreSchema', 'dataStoreUsername'] as const;
  return fields.flatMap((field) => {
    const name = tcp.spec[field] ?? '';
    const problem = name === '' || name === old?.spec[field] ? undefined : tenancyNameProblem(name);
    if (problem === undefined) return [];
    const remedy = 'leave it empty to have a unique name generated';
    return [{ field: `spec.${field}`, value: name, reason: problem, remedy }];
  });
}

/** Validates the choice of a datastore. What was accepted before is not validated again: a DataStore may be gone now. */
export function validateStore(question: StoreRequest): readonly InvalidInput[] {
  return [...validateChoice(question), ...validateName(question), ...overrides(question)];
}
