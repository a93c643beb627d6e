import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../runtime/clock.ts';
import type { DataTenant } from '../contract/tenancy-data-contract.ts';
import type { TenancyData } from '../tenancy-data.ts';
import { withOtherEnd } from '../with-dispose.ts';
import type { MigrationOptions } from './migration.ts';
import type { MigrationRecord } from './migration-journal.ts';
import type { MigrationProgress } from './migration-progress.ts';

/** The data over a connection that stays open. */
function lent(data: TenancyData): () => Promise<TenancyData> {
  return () => Promise.resolve(withOtherEnd(data, () => Promise.resolve()));
}

/** The options of a migration in tests, with a journal in memory. */
export function moving(
  source: DataTenant,
  target: DataTenant,
): MigrationOptions & { readonly reports: MigrationProgress[] } {
  let record: MigrationRecord | undefined;
  const reports: MigrationProgress[] = [];
  return {
    source: lent(source.data),
    target: lent(target.data),
    journal: {
      read: () => Promise.resolve(record),
      write: (next) => {
        record = next;
        return Promise.resolve();
      },
    },
    freeze: { request: () => delay(300), release: () => Promise.resolve() },
    clock: systemClock,
    signal: new AbortController().signal,
    reports,
    report: (progress) => reports.push(progress),
  };
}
