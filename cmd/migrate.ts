import { goDuration } from '../api/go-duration.ts';
import { migrate } from '../stores/migration/migrate.ts';
import { withCommandParts } from './command-parts.ts';
import { readFlags, UsageError } from './flags/flags.ts';
import { GiveUpError } from './migration/job-channel.ts';
import { migrateFlags } from './flags/migrate-flags.ts';
import { runMigration } from './migration/run-migration.ts';
import type { MigrationTask } from './migration/run-migration.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `steward migrate`: copies the data of a tenant to another DataStore while the tenant is used, as the process of the Job
 * that a changed spec.dataStore starts. Returns the exit code. Safe to run again.
 * @throws UsageError for invalid arguments.
 */
export async function runMigrate(args: readonly string[], environment: Environment): Promise<number> {
  const { kubeconfig, task } = readMigrateSettings(args, environment);
  return withCommandParts(
    { kubeconfig, environment },
    async (parts) => {
      const outcome = await runMigration(task, { ...parts, migrate });
      parts.log.info('the migration has ended', { outcome });
    },
    (error, log) => {
      log.error(error instanceof GiveUpError ? 'the migration failed' : 'the migration was interrupted', { error });
    },
  );
}

/** Reads the command line. Throws `UsageError` that names the flag and what is possible. */
export function readMigrateSettings(
  args: readonly string[],
  environment: Environment,
): { readonly kubeconfig: string; readonly task: MigrationTask } {
  const flags = readFlags(migrateFlags, args);
  const [namespace = '', name = '', ...more] = flags['tenant-control-plane'].split('/');
  if (namespace === '' || name === '' || more.length > 0) {
    throw new UsageError(`--tenant-control-plane takes namespace/name, got "${flags['tenant-control-plane']}"`);
  }
  const target = flags['target-datastore'];
  if (target === '') throw new UsageError('expecting a value for --target-datastore arg');
  const operatorNamespace = flags['pod-namespace'] || (environment.POD_NAMESPACE ?? '');
  if (operatorNamespace === '') throw new UsageError('expecting a value for --pod-namespace arg, or $POD_NAMESPACE');
  const task = { tenant: { namespace, name }, target, operatorNamespace, cleanup: flags['cleanup-prior-migration'] };
  try {
    return { kubeconfig: flags.kubeconfig, task: { ...task, timeoutMs: goDuration(flags.timeout) } };
  } catch (error) {
    throw new UsageError(`--timeout: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
