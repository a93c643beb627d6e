import { kinds } from '../../../api/core/kinds.ts';
import { goDuration } from '../../../api/go-duration.ts';
import { keyReader } from '../../../cmd/backup/key-reader.ts';
import { runBackup } from '../../../cmd/backup/run-backup.ts';
import { runRestore } from '../../../cmd/backup/run-restore.ts';
import { parseReported, statusReport } from '../../../cmd/backup/status-report.ts';
import { backupFlags, restoreFlags } from '../../../cmd/flags/backup-flags.ts';
import { readFlags } from '../../../cmd/flags/flags.ts';
import { readMigrateSettings } from '../../../cmd/migrate.ts';
import { runMigration } from '../../../cmd/migration/run-migration.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { describeFailure } from '../../../runtime/observe/describe-failure.ts';
import type { Logger } from '../../../runtime/observe/logger.ts';
import type { BackupRepository } from '../../../stores/backup/backup-repository.ts';
import { SealedFolder } from '../../../stores/backup/sealed-folder.ts';
import type { Driver } from '../../../stores/driver.ts';
import { migrate } from '../../../stores/migration/migrate.ts';
import { secretReader } from '../../../stores/secret-reader.ts';
import { Sessions } from '../../../stores/sessions.ts';
import { StoreAccess } from '../../../stores/store-access.ts';
import { interceptedCluster } from './intercepted-cluster.ts';
import { interceptedDriver } from './intercepted-driver.ts';
import { interceptedRepository } from './intercepted-repository.ts';
import type { ProductProcess } from './product-process.ts';
import { managerNamespace } from './start-manager.ts';

/** What the process of a Job works with. */
export interface JobPlace {
  readonly management: Cluster;
  readonly drivers: readonly Driver[];
  readonly repository: BackupRepository;
  readonly log: Logger;
  /** Aborted when the process is asked to end. */
  readonly signal: AbortSignal;
}

/** Runs the program of a Job with its arguments, as `steward` does. Rejects when it fails. */
export async function runJob(process: ProductProcess, args: readonly string[], place: JobPlace): Promise<void> {
  const { clock, pass, watches } = process;
  const { log, signal } = place;
  const cluster = interceptedCluster(place.management, { to: 'management', pass, watches });
  const stores = new StoreAccess({
    drivers: place.drivers.map((driver) => interceptedDriver(driver, pass)),
    sessions: new Sessions({ clock }),
    read: secretReader((key) => cluster.get(kinds.Secret, key)),
  });
  const parts: Parts = { cluster, stores, clock, log, signal };
  const [command = '', ...rest] = args;
  if (command === 'migrate') {
    const { task } = readMigrateSettings(rest, { POD_NAMESPACE: managerNamespace });
    await runMigration(task, { ...parts, migrate });
  } else {
    await runOfBackups(command, rest, { ...parts, repository: interceptedRepository(place.repository, pass) });
  }
}

interface Parts {
  readonly cluster: Cluster;
  readonly stores: StoreAccess;
  readonly clock: ProductProcess['clock'];
  readonly log: Logger;
  readonly signal: AbortSignal;
}

async function runOfBackups(
  command: string,
  args: readonly string[],
  { repository, ...parts }: Parts & { readonly repository: BackupRepository },
): Promise<void> {
  const isRestore = command === 'restore';
  const flags = isRestore ? readFlags(restoreFlags, args) : readFlags(backupFlags, args);
  const reported = parseReported(flags.report);
  if (reported === undefined) throw new Error(`the Job reports to no object: ${flags.report}`);
  const tenant = named(flags['tenant-control-plane']);
  const report = statusReport(reported, parts);
  try {
    const key = await keyReader(flags)(parts);
    const folderOf = ({ namespace, name }: typeof tenant): SealedFolder =>
      new SealedFolder(repository, [namespace, name, flags.folder].filter((part) => part !== '').join('/'), key);
    if ('from' in flags) {
      const of = flags.from === '' ? tenant : named(flags.from);
      const task = { tenant, original: of.name, moves: flags.move, timeoutMs: goDuration(flags.timeout) };
      await runRestore({ ...task, id: reported.uid }, { ...parts, report, folder: folderOf(of) });
    } else {
      const task = { tenant, keep: flags.keep, resumes: flags.folder !== '' };
      await runBackup(task, { ...parts, report, folder: folderOf(tenant) });
    }
  } catch (error) {
    // As the program does: that it cannot be reported hides nothing, since the failure itself is thrown.
    await report({ problem: describeFailure(error) }).catch(() => undefined);
    throw error;
  }
}

function named(text: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = text.split('/');
  return { namespace, name };
}
