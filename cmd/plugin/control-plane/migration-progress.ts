import type { MigrationStatus } from '../../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Progress } from './follow-object.ts';
import { conditionLine, currentCondition } from './ready-condition.ts';

/** What is waited for: the DataStore, and the start of the migration that there was before. */
export interface WantedMigration {
  readonly to: string;
  readonly earlier: string | undefined;
}

/** How far a migration is. */
export function migrationProgress({ to, earlier }: WantedMigration, tenant: TenantControlPlane): Progress {
  const { migration, dataStoreName } = tenant.status?.storage ?? {};
  const isNew = migration !== undefined && migration.startedAt !== earlier && migration.target.dataStoreName === to;
  if (!isNew) {
    if (dataStoreName === to && currentCondition(tenant, 'Ready')?.status === 'True') {
      return { state: 'done', line: `the data is in ${to}` };
    }
    const refused = currentCondition(tenant, 'StoreReady');
    const line = refused?.status === 'False' ? conditionLine(refused) : 'the migration has not begun yet';
    return { state: 'waiting', line };
  }
  const { phase } = migration;
  if (phase === 'Succeeded') return { state: 'done', line: `the data is in ${to}${pause(migration)}` };
  if (phase !== 'Failed' && phase !== 'Cancelled') return { state: 'waiting', line: phaseLine(migration) };
  const how = phase === 'Failed' ? 'failed' : 'was canceled';
  const why = migration.message ?? 'no reason was reported';
  return { state: 'failed', line: `the migration to ${to} ${how}: ${why}; --retry tries it again` };
}

function phaseLine({ phase, keys, remaining, rate, message }: MigrationStatus): string {
  const figures = [
    keys === undefined ? '' : `${keys} keys`,
    remaining === undefined ? '' : `${remaining} left`,
    rate === undefined ? '' : `${rate}/s`,
  ].filter((figure) => figure !== '');
  const copied = phase === 'Copying' && figures.length > 0 ? ` (${figures.join(', ')})` : '';
  return `${phase}${copied}${message === undefined || message === '' ? '' : `: ${message}`}`;
}

const pause = ({ pauseMs }: MigrationStatus): string =>
  pauseMs === undefined ? '' : `; writes were denied for ${(pauseMs / 1000).toFixed(1)} s`;
