import type { MigrationStatus } from '../../../api/steward/v1alpha1/migration-status.ts';

/** From where to where, in words. */
export function way({ source, target }: MigrationStatus): string {
  return `from DataStore ${source.dataStoreName} to ${target.dataStoreName}`;
}

/** How far a migration is, in words; empty while nothing is known. */
export function howFar({ keys, bytes, rate, remaining }: MigrationStatus): string {
  if (keys === undefined) return '';
  const left = remaining === undefined ? '' : `, ${remaining} left`;
  const pace = rate === undefined || rate === 0 ? '' : `, ${rate} keys/s`;
  return `${keys} keys (${((bytes ?? 0) / 1024 / 1024).toFixed(1)} MiB) copied${left}${pace}`;
}

/** How long writes were denied, in words. */
export function pauseText({ pauseMs, rolloutMs }: MigrationStatus): string {
  if (pauseMs === undefined) return 'writes were never denied';
  const outside = pauseMs - (rolloutMs ?? 0);
  return `writes were denied for ${seconds(pauseMs)} s, ${seconds(outside)} s of it outside the rollout`;
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

/** What a person can do about a migration that failed. */
export const failedRemedy =
  'the tenant runs on the old DataStore as before; change what stands in the way and set the annotation steward.butlerlabs.dev/retry-migration to another value, or set spec.dataStore back';
