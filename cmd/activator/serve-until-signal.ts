import type { EventEmitter } from 'node:events';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/observe/logger.ts';
import { version } from '../version.ts';
import { endInTurn } from './end-in-turn.ts';
import type { Ending } from './end-in-turn.ts';

const signalsOfEnd = ['SIGINT', 'SIGTERM'] as const;

export interface ServeOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** What is sent to the process. */
  readonly signals: Pick<EventEmitter, 'on' | 'off'>;
}

/**
 * Starts an activator and serves until the process is terminated by a signal, and then ends in turn; a second signal ends it at once. One is enough
 * before all is ready.
 */
export async function serveUntilSignal(
  start: () => Promise<Ending & { readonly ready: Promise<void> }>,
  { clock, log, signals }: ServeOptions,
): Promise<void> {
  const first = Promise.withResolvers<string>();
  const hurry = new AbortController();
  let isTerminated = false;
  const take = (signal: string): void => {
    if (isTerminated) hurry.abort(new Error(`a second signal: ${signal}`));
    isTerminated = true;
    first.resolve(signal);
  };
  for (const signal of signalsOfEnd) signals.on(signal, take);
  try {
    const activator = await start();
    const ready = activator.ready.then(() => {
      log.info('started', { version, node: process.version });
      return true;
    });
    const isReady = await Promise.race([ready, first.promise.then(() => false)]);
    log.info('stopping', { signal: await first.promise });
    if (isReady) await endInTurn(activator, { clock, hurry: hurry.signal });
  } finally {
    for (const signal of signalsOfEnd) signals.off(signal, take);
  }
}
