import { goDuration } from '../api/go-duration.ts';
import { describeFailure } from '../runtime/observe/describe-failure.ts';
import { nextBackup } from '../stores/backup/backup-schedule.ts';
import type { BackupSchedule } from '../stores/backup/backup-schedule.ts';
import { removeBackups } from '../stores/backup/remove-backups.ts';
import { SealedFolder } from '../stores/backup/sealed-folder.ts';
import type { BackupParts } from './backup/backup-parts.ts';
import { keyReader } from './backup/key-reader.ts';
import { runBackup } from './backup/run-backup.ts';
import { runRestore } from './backup/run-restore.ts';
import { withRepository } from './backup/with-repository.ts';
import type { CommonFlags, Named } from './backup/with-repository.ts';
import { backupFlags, restoreFlags } from './flags/backup-flags.ts';
import { readFlags, UsageError } from './flags/flags.ts';
import type { FlagValues } from './flags/flags.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `steward backup`: saves the data, CAs and keys of a control plane, or removes what it has saved. Returns the exit code.
 * @throws UsageError for invalid arguments.
 */
export async function runBackupCommand(args: readonly string[], environment: Environment): Promise<number> {
  const flags = readFlags(backupFlags, args);
  const tenant = namedBy('tenant-control-plane', flags['tenant-control-plane']);
  const follow = scheduleOf(flags);
  if (flags.keep < 1) throw new UsageError(`--keep takes a number from 1 on, got ${flags.keep}`);
  if (flags.remove) return runRemoval(flags, tenant, environment);
  const resumes = flags.folder !== '' && !flags.follow;
  const task = { tenant, keep: flags.keep, resumes, ...(flags.follow && { follow }) };
  return withParts(flags, { of: tenant, environment }, (parts) => runBackup(task, parts));
}

/**
 * `steward restore`: restores a control plane from its backups. Returns the exit code.
 * @throws UsageError for invalid arguments.
 */
export async function runRestoreCommand(args: readonly string[], environment: Environment): Promise<number> {
  const flags = readFlags(restoreFlags, args);
  const tenant = namedBy('tenant-control-plane', flags['tenant-control-plane']);
  const of = flags.from === '' ? tenant : namedBy('from', flags.from);
  const at = momentOf(flags.at);
  const timeoutMs = durationOf('timeout', flags.timeout);
  const task = { tenant, original: of.name, moves: flags.move, timeoutMs, ...(at !== undefined && { at }) };
  return withParts(flags, { of, environment }, (parts, id) => runRestore({ ...task, id }, parts));
}

async function withParts(
  flags: CommonFlags,
  place: { readonly of: Named; readonly environment: Environment },
  work: (parts: BackupParts, worksFor: string | undefined) => Promise<unknown>,
): Promise<number> {
  const readKey = keyReader(flags);
  return withRepository(flags, place, async ({ repository, folderName, parts, report, worksFor }) => {
    const folder = new SealedFolder(repository, folderName, await readKey(parts));
    await work({ ...parts, folder, report }, worksFor);
  });
}

function runRemoval(flags: CommonFlags, of: Named, environment: Environment): Promise<number> {
  return withRepository(flags, { of, environment }, async ({ repository, folderName, parts }) => {
    const { removed } = await removeBackups(repository, folderName);
    parts.log.info('the backups were removed', { folder: folderName, removed });
  });
}

/** The interval has a default, so a schedule wins. */
function scheduleOf(flags: FlagValues<typeof backupFlags>): BackupSchedule {
  const { schedule, 'time-zone': timeZone, interval } = flags;
  durationOf('interval', interval);
  if (schedule === '' && timeZone !== '') throw new UsageError('--time-zone needs --schedule');
  if (schedule === '') return { interval };
  const wanted = { schedule, ...(timeZone !== '' && { timeZone }) };
  try {
    nextBackup(wanted, new Date());
  } catch (error) {
    throw new UsageError(`--schedule: ${describeFailure(error)}`, { cause: error });
  }
  return wanted;
}

function namedBy(flag: string, text: string): Named {
  const [namespace = '', name = '', ...more] = text.split('/');
  if (namespace === '' || name === '' || more.length > 0) {
    throw new UsageError(`--${flag} takes namespace/name, got "${text}"`);
  }
  return { namespace, name };
}

function durationOf(flag: string, text: string): number {
  try {
    return goDuration(text);
  } catch (error) {
    throw new UsageError(`--${flag}: ${describeFailure(error)}`, { cause: error });
  }
}

/** Times without a zone would mean another moment on another machine. */
function momentOf(text: string): Date | undefined {
  if (text === '') return undefined;
  const moment = new Date(text);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(moment.getTime())) {
    return moment;
  }
  throw new UsageError(`--at takes a moment such as 2026-01-31T12:00:00Z, got "${text}"`);
}
