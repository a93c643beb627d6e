import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { tenancyNameProblem } from '../../../stores/tenancy-names.ts';
import { hasRun } from '../components/override-shares.ts';
import { missingStore, refusedStore } from './data-store-drivers.ts';
import type { DataStoreDrivers, DataStoreRefusals } from './data-store-drivers.ts';
import { overrideComplaints } from './override-complaints.ts';

interface Question {
  readonly tcp: TenantControlPlane;
  readonly old: TenantControlPlane | undefined;
  readonly drivers: DataStoreDrivers;
  readonly refusals?: DataStoreRefusals | undefined;
}

function choiceComplaints({ tcp, old, drivers, refusals }: Question): readonly InvalidInput[] {
  const name = tcp.spec.dataStore ?? '';
  const before = old?.spec.dataStore ?? '';
  if (name === '' || name === before) return [];
  if (!drivers.has(name)) return [missingStore('spec.dataStore', name)];
  const refusal = refusals?.get(name);
  // Where the data is already it stays: a move may be taken back.
  return refusal === undefined || homeOf(old).store === name ? [] : [refusedStore('spec.dataStore', name, refusal)];
}

/**
 * The DataStore that a tenant's share is in, empty while it has none, and whether anything may have been written there. The
 * status is another resource to the API server: only the old object's counts.
 */
function homeOf(old: TenantControlPlane | undefined): { readonly store: string; readonly hasRun: boolean } {
  const { setup, dataStoreName = '' } = old?.status?.storage ?? {};
  if (setup?.schema === undefined) return { store: '', hasRun: false };
  return { store: dataStoreName, hasRun: hasRun(old?.status) };
}

function overrides({ tcp, old, drivers, refusals }: Question): readonly InvalidInput[] {
  const { dataStore = '', dataStoreOverrides: asked = [] } = tcp.spec;
  const { dataStore: was = '', dataStoreOverrides: accepted = [] } = old?.spec ?? {};
  const same = JSON.stringify(asked) === JSON.stringify(accepted) && dataStore === was;
  if (old !== undefined && same) return [];
  const home = homeOf(old);
  const moves = home.hasRun && dataStore !== '' && dataStore !== home.store;
  return overrideComplaints({
    overrides: asked,
    mains: [home.store, dataStore].filter((name) => name !== ''),
    drivers,
    refusals,
    accepted,
    ...(home.hasRun && { held: accepted }),
    ...(moves && { movesTo: dataStore }),
  });
}

function nameComplaints({ tcp, old }: Question): readonly InvalidInput[] {
  const fields = ['dataStoreSchema', 'dataStoreUsername'] as const;
  return fields.flatMap((field) => {
    const name = tcp.spec[field] ?? '';
    const problem = name === '' || name === old?.spec[field] ? undefined : tenancyNameProblem(name);
    if (problem === undefined) return [];
    const remedy = 'leave it empty to have a unique one chosen';
    return [{ field: `spec.${field}`, value: name, reason: problem, remedy }];
  });
}

/** What is wrong with the choice of a store. What was accepted before is not judged again: a store may be gone by now. */
export function storeComplaints(question: Question): readonly InvalidInput[] {
  return [...choiceComplaints(question), ...nameComplaints(question), ...overrides(question)];
}
