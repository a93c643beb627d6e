import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../runtime/clock.ts';
import type { DataTenant } from '../tenancy-data-contract.ts';
import type { TenancyData } from '../tenancy-data.ts';
import type { MigrationOptions } from './migration.ts';
import type { MigrationRecord } from './migration-journal.ts';
import type { MigrationProgress } from './migration-progress.ts';

/** The data, over a connection that stays. */
function lent(data: TenancyData): () => Promise<TenancyData> {
  return () =>
    Promise.resolve({
      revision: () => data.revision(),
      count: () => data.count(),
      pages: (revision) => data.pages(revision),
      changes: (after) => data.changes(after),
      write: (changes) => data.write(changes),
      raise: (revision, tell) => data.raise(revision, tell),
      fence: () => data.fence(),
      ...(data.openUncopied !== undefined && { openUncopied: () => data.openUncopied?.() ?? Promise.resolve() }),
      unfence: () => data.unfence(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    });
}

/** A tenancy that moves, with everything kept in memory that must outlive a process. */
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
