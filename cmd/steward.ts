import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { inspect } from 'node:util';
import { runActivator } from './activator/activator.ts';
import { runBackupCommand, runRestoreCommand } from './backup.ts';
import { datastoreBootstrapFlags, runDatastoreBootstrap } from './datastore-bootstrap.ts';
import { activatorFlags } from './flags/activator-flags.ts';
import { backupFlags, restoreFlags } from './flags/backup-flags.ts';
import { UsageError, describeFlags } from './flags/flags.ts';
import { exceptionRecord } from './exception-record.ts';
import { LastResort } from './last-resort.ts';
import { managerFlags } from './flags/manager-flags.ts';
import { readManagerSettings } from './flags/manager-settings.ts';
import { runManager } from './manager.ts';
import { migrateFlags } from './flags/migrate-flags.ts';
import { runMigrate } from './migrate.ts';
import { openRepository } from '../clusterstacks/cmd/stack/open-repository.ts';
import { runStack, stackUsage } from '../clusterstacks/cmd/stack/run-stack.ts';
import { version } from './version.ts';

/** In a pod, the folder for temporary files is a volume, which outlives a restart of the container. */
const pod = process.env.POD_UID ?? '';
const record = pod === '' ? undefined : exceptionRecord(join(tmpdir(), `steward-exceptions-${pod}`));

const lastResort = new LastResort(
  process,
  {
    error: (message, { error } = {}) => {
      console.error(JSON.stringify({ level: 'error', message, error: inspect(error) }));
    },
  },
  record,
);

/** What kubectl starts for `kubectl steward`: this program under another name. */
const isPlugin = basename(process.argv[1] ?? '').startsWith('kubectl-steward');

/** The commands of the binary; the first is what runs when none is named. */
const commands: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  // A reconcile that does not heed its abort ends with the process.
  manager: async (args) => process.exit(await runManager(readManagerSettings(args, process.env), lastResort)),
  'datastore-bootstrap': (args) => runDatastoreBootstrap(args, process.env),
  activator: (args) => runActivator(args, process.env),
  migrate: (args) => runMigrate(args, process.env),
  backup: (args) => runBackupCommand(args, process.env),
  restore: (args) => runRestoreCommand(args, process.env),
  stack: (args) => {
    const stop = new AbortController();
    process.once('SIGINT', () => {
      stop.abort(new Error('the process was asked to terminate (SIGINT)'));
    });
    return runStack(args, {
      environment: process.env,
      print: (line) => {
        console.log(line);
      },
      now: () => new Date(),
      signal: stop.signal,
      open: openRepository,
    });
  },
  version: () => {
    console.log(version);
    return Promise.resolve(0);
  },
};

const usage = `steward ${version}: hosted Kubernetes control planes

Usage: steward <command> [flags]

  manager               runs the controllers and the admission webhooks (the default command)
  datastore-bootstrap   etcd, postgres, mysql, nats or nats-accounts: creates the certificates and the administrator of config/datastores
  activator             holds the first calls of control planes that sleep, and has them woken up
  migrate               copies a tenant's data to another DataStore; the manager runs it in Jobs
  backup                saves the data, CAs and keys of a control plane, once or all the time
  restore               restores a control plane from its backups
  kubectl               the commands of kubectl steward, for people: get, create, upgrade …; see steward kubectl --help
  stack                 build, push, diff or lint: releases of cluster stacks; see steward stack --help
  version               prints the version

Flags of manager:
${describeFlags(managerFlags)}

Flags of datastore-bootstrap (--members for etcd only):
${describeFlags(datastoreBootstrapFlags)}

Flags of activator:
${describeFlags(activatorFlags)}

Flags of migrate:
${describeFlags(migrateFlags)}

Flags of backup:
${describeFlags(backupFlags)}

Flags of restore:
${describeFlags(restoreFlags)}`;

async function main(args: readonly string[]): Promise<number> {
  const [first = 'manager', ...rest] = args;
  if (first === 'kubectl') {
    // Loaded only here: the manager has no use for it.
    const { runPluginProcess } = await import('./plugin/run-process.ts');
    return runPluginProcess(rest);
  }
  if (['help', '--help', '-h'].some((word) => args.includes(word))) {
    console.log(first === 'stack' ? stackUsage : usage);
    return 0;
  }
  const [name, flags] = first.startsWith('-') ? ['manager', args] : [first, rest];
  const command = commands[name];
  if (command === undefined)
    throw new UsageError(`unknown command ${name}; use one of ${[...Object.keys(commands), 'kubectl'].join(', ')}`);
  return command(flags);
}

try {
  process.exitCode = await main([...(isPlugin ? ['kubectl'] : []), ...process.argv.slice(2)]);
} catch (error) {
  if (!(error instanceof UsageError)) {
    console.error(error);
    process.exit(1);
  }
  console.error(`steward: ${error.message}`);
  process.exitCode = 2;
}
