import { refusalRemedy } from './placement/namespace-refusal.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';

/** The driver of every DataStore that exists, by name. */
export type DataStoreDrivers = ReadonlyMap<string, string>;

/** Why DataStores do not accept tenants from the namespace in question, by name; those that accept them are absent. */
export type DataStoreRefusals = ReadonlyMap<string, string>;

/** The validation error for a DataStore that does not accept tenants from the namespace. */
export function refusedStore(field: string, name: string, refusal: string): InvalidInput {
  return { field, value: name, reason: `names a DataStore that ${refusal}`, remedy: refusalRemedy };
}

/** The validation error for a DataStore that is being drained. */
export function drainedStore(field: string, name: string): InvalidInput {
  const reason = 'names a DataStore that is being drained: its tenants are being migrated to others';
  return { field, value: name, reason, remedy: 'use another DataStore, or remove spec.drain of this one' };
}

/** The validation error for a DataStore that does not exist. */
export function missingStore(field: string, name: string): InvalidInput {
  return {
    field,
    value: name,
    reason: 'names a DataStore that does not exist',
    remedy: 'create it first, or use another one',
  };
}
