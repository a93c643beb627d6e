import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { inspect } from 'node:util';
import { UsageError } from './flags/flags.ts';
import { exceptionRecord } from './exception-record.ts';
import { LastResort } from './last-resort.ts';
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

/** The commands of the binary; the first is what runs when none is named. Each loads only what it needs. */
const commands: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  // A reconcile that does not heed its abort ends with the process.
  manager: async (args) => {
    const { readManagerSettings } = await import('./flags/manager-settings.ts');
    const { runManager } = await import('./manager.ts');
    return process.exit(await runManager(readManagerSettings(args, process.env), lastResort));
  },
  'datastore-bootstrap': async (args) =>
    (await import('./datastore-bootstrap.ts')).runDatastoreBootstrap(args, process.env),
  // Connections that are still open end with the process.
  activator: async (args) =>
    process.exit(await (await import('./activator/activator.ts')).runActivator(args, process.env)),
  migrate: async (args) => (await import('./migrate.ts')).runMigrate(args, process.env),
  backup: async (args) => (await import('./backup.ts')).runBackupCommand(args, process.env),
  restore: async (args) => (await import('./backup.ts')).runRestoreCommand(args, process.env),
  stack: async (args) => {
    const { openRepository } = await import('../clusterstacks/cmd/stack/open-repository.ts');
    const { runStack } = await import('../clusterstacks/cmd/stack/run-stack.ts');
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

async function main(args: readonly string[]): Promise<number> {
  const [first = 'manager', ...rest] = args;
  if (first === 'kubectl') {
    // Loaded only here: the manager has no use for it.
    const { runPluginProcess } = await import('./plugin/run-process.ts');
    return runPluginProcess(rest);
  }
  if (['help', '--help', '-h'].some((word) => args.includes(word))) {
    if (first === 'stack') console.log((await import('../clusterstacks/cmd/stack/run-stack.ts')).stackUsage);
    else console.log((await import('./flags/usage.ts')).usage);
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
