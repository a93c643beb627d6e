import { readFileSync } from 'node:fs';
import { goDuration } from '../api/go-duration.ts';
import { describeFailure } from '../runtime/observe/describe-failure.ts';
import { BackupKey } from '../stores/backup/backup-key.ts';
import { RepositoryError } from '../stores/backup/backup-repository.ts';
import { FolderRepository } from '../stores/backup/folder-repository.ts';
import { SealedFolder } from '../stores/backup/sealed-folder.ts';
import type { BackupParts } from './backup/backup-parts.ts';
import { BackupRefusal } from './backup/backup-refusal.ts';
import { runBackup } from './backup/run-backup.ts';
import { runRestore } from './backup/run-restore.ts';
import { withCommandParts } from './command-parts.ts';
import { backupFlags, restoreFlags } from './flags/backup-flags.ts';
import { readFlags, UsageError } from './flags/flags.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A control plane as `namespace/name` names it. */
interface Named {
  readonly namespace: string;
  readonly name: string;
}

/**
 * `steward backup`: saves the data, CAs and keys of a control plane. The answer is the exit code.
 * @throws UsageError for arguments that mean nothing.
 */
export async function runBackupCommand(args: readonly string[], environment: Environment): Promise<number> {
  const flags = readFlags(backupFlags, args);
  const tenant = namedBy('tenant-control-plane', flags['tenant-control-plane']);
  const followMs = durationOf('interval', flags.interval);
  if (flags.keep < 1) throw new UsageError(`--keep takes a number from 1 on, got ${flags.keep}`);
  const task = { tenant, keep: flags.keep, ...(flags.follow && { followMs }) };
  return withParts(flags, { of: tenant, environment }, (parts) => runBackup(task, parts));
}

/**
 * `steward restore`: restores a control plane from its backups. The answer is the exit code.
 * @throws UsageError for arguments that mean nothing.
 */
export async function runRestoreCommand(args: readonly string[], environment: Environment): Promise<number> {
  const flags = readFlags(restoreFlags, args);
  const tenant = namedBy('tenant-control-plane', flags['tenant-control-plane']);
  const of = flags.from === '' ? tenant : namedBy('from', flags.from);
  const at = momentOf(flags.at);
  const task = { tenant, timeoutMs: durationOf('timeout', flags.timeout), ...(at !== undefined && { at }) };
  return withParts(flags, { of, environment }, (parts) => runRestore(task, parts));
}

async function withParts(
  flags: { readonly kubeconfig: string; readonly repository: string; readonly 'key-file': string },
  { of, environment }: { readonly of: Named; readonly environment: Environment },
  work: (parts: BackupParts) => Promise<unknown>,
): Promise<number> {
  const folder = folderOf(flags, of);
  return withCommandParts(
    { kubeconfig: flags.kubeconfig, environment },
    async (parts) => {
      await work({ ...parts, folder });
    },
    (error, log) => {
      const isPlain = error instanceof BackupRefusal || error instanceof RepositoryError;
      log.error(isPlain ? error.message : 'it was interrupted', isPlain ? {} : { error });
    },
  );
}

function folderOf(
  { repository, 'key-file': keyFile }: { readonly repository: string; readonly 'key-file': string },
  { namespace, name }: Named,
): SealedFolder {
  if (repository === '') throw new UsageError('expecting a value for --repository arg');
  if (keyFile === '') throw new UsageError('expecting a value for --key-file arg');
  try {
    const key = new BackupKey(readFileSync(keyFile, 'utf8'));
    return new SealedFolder(new FolderRepository(repository), `${namespace}/${name}`, key);
  } catch (error) {
    throw new UsageError(`--key-file: ${describeFailure(error)}`, { cause: error });
  }
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
