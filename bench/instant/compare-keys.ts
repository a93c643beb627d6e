import type { ComparedKeys } from './instant-rows.ts';

/** Compares the hashes of the private keys of several control planes. */
export function compareKeys(controlPlanes: readonly ReadonlySet<string>[]): ComparedKeys {
  const owners = new Map<string, number>();
  for (const keys of controlPlanes) for (const key of keys) owners.set(key, (owners.get(key) ?? 0) + 1);
  const counts = [...owners.values()];
  return {
    controlPlanes: controlPlanes.length,
    keys: counts.length,
    shared: counts.filter((count) => count > 1).length,
  };
}
