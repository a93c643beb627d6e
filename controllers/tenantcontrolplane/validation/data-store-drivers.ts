import { refusalRemedy } from '../components/placement/namespace-refusal.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';

/** Says whether a DataStore exists, and its driver. */
export type DataStoreDrivers = ReadonlyMap<string, string>;

/** Why DataStores take no tenants of the namespace that is asked for, by name; those that take them are absent. */
export type DataStoreRefusals = ReadonlyMap<string, string>;

/** The complaint about a DataStore that takes no tenants of the namespace. */
export function refusedStore(field: string, name: string, refusal: string): InvalidInput {
  return { field, value: name, reason: `names a DataStore that ${refusal}`, remedy: refusalRemedy };
}

/** The complaint about a DataStore that is not there. */
export function missingStore(field: string, name: string): InvalidInput {
  return {
    field,
    value: name,
    reason: 'names a DataStore that does not exist',
    remedy: 'create it first or name another',
  };
}
