import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';

/** Says whether a DataStore exists, and its driver. */
export type DataStoreDrivers = ReadonlyMap<string, string>;

/** The complaint about a DataStore that is not there. */
export function missingStore(field: string, name: string): InvalidInput {
  return {
    field,
    value: name,
    reason: 'names a DataStore that does not exist',
    remedy: 'create it first or name another',
  };
}
