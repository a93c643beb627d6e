import { kinds } from '../api/core/kinds.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Cluster } from '../runtime/client/cluster.ts';
import { openCluster } from '../runtime/client/http-cluster.ts';
import type { Logger } from '../runtime/observe/logger.ts';
import { createWinstonLogger } from '../runtime/observe/winston-logger.ts';
import { secretReader } from '../stores/secret-reader.ts';
import { Sessions } from '../stores/sessions.ts';
import { StoreAccess } from '../stores/store-access.ts';
import { Closing } from './closing.ts';
import { connectionOf } from './connection-of.ts';
import { drivers } from './controllers.ts';
import { version } from './version.ts';

/** What a command works with that runs beside the manager and ends. */
export interface CommandParts {
  /** The management cluster. */
  readonly cluster: Cluster;
  readonly stores: StoreAccess;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when the process is asked to end. */
  readonly signal: AbortSignal;
}

/**
 * Opens what a command works with, and closes it afterwards. The answer is the exit code: 1 after `failed`, which logs the error.
 * @throws UsageError when the management cluster is not named.
 */
export async function withCommandParts(
  {
    kubeconfig,
    environment,
  }: { readonly kubeconfig: string; readonly environment: Readonly<Record<string, string | undefined>> },
  work: (parts: CommandParts) => Promise<void>,
  failed: (error: unknown, log: Logger) => void,
): Promise<number> {
  const clock = systemClock;
  const log = createWinstonLogger({ level: 'info', format: 'json', stream: process.stdout, now: () => clock.now() });
  const connection = connectionOf(kubeconfig, environment);
  const closing = new Closing();
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stop.abort(new Error(`the process was asked to terminate (${signal})`));
    });
  }
  try {
    const options = { name: 'management', userAgent: `steward/${version}` };
    const cluster = closing.add(openCluster(connection, options), (open) => open.close());
    const sessions = closing.add(new Sessions({ clock }), (open) => open[Symbol.asyncDispose]());
    const stores = new StoreAccess({ drivers, sessions, read: secretReader((key) => cluster.get(kinds.Secret, key)) });
    await work({ cluster, stores, clock, log, signal: stop.signal });
    return 0;
  } catch (error) {
    failed(error, log);
    return 1;
  } finally {
    await closing.close();
  }
}
