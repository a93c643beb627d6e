import type { Clock } from '../runtime/clock.ts';
import { sleep } from '../runtime/clock.ts';
import { ApiError, UnreachableError } from '../runtime/client/errors.ts';
import type { Logger } from '../runtime/observe/logger.ts';

/** How a call is repeated. */
export interface RetryLimits {
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const retryMs = 1_000;

/**
 * Repeats a call until the API server answers it, so that a restart of the API server does not end the process. Throws
 * other errors, such as a refusal, and the signal's reason when that aborts.
 */
export async function untilAnswered<T>(call: () => Promise<T>, { clock, log, signal }: RetryLimits): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const passes =
        error instanceof UnreachableError || (error instanceof ApiError && (error.code >= 500 || error.code === 429));
      if (!passes) throw error;
      log.warn('the API server does not respond yet', { error, retryAfterMs: retryMs });
      await sleep(clock, retryMs, signal);
    }
  }
}
