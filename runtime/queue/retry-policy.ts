import { ApiError, RetryError, TerminalError } from '../client/errors.ts';

/** When an error lets its key be reconciled again. */
export type Retry =
  | { readonly is: 'never' }
  | { readonly is: 'after'; readonly ms: number }
  /** After the key's own backoff, and not earlier than the server requests. */
  | { readonly is: 'backoff'; readonly atLeastMs?: number };

/** The longest delay that a server can request: a tenant's webhooks can make its API server request any. */
const longestDelayMs = 300_000;

/**
 * The one place that maps errors to retries. A group of errors is retried at the earliest time of its errors; it is
 * terminal only if all are. The delay that a server requests never shortens the backoff, because a tenant could keep a
 * worker busy.
 */
export function retryOf(error: unknown): Retry {
  if (error instanceof TerminalError) return { is: 'never' };
  if (error instanceof RetryError) return { is: 'after', ms: error.afterMs };
  if (error instanceof ApiError) return backoff(error.retryAfterMs);
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(retryOf).reduce(sooner);
  return { is: 'backoff' };
}

function backoff(requested = 0): Retry {
  return requested > 0 ? { is: 'backoff', atLeastMs: Math.min(requested, longestDelayMs) } : { is: 'backoff' };
}

function sooner(a: Retry, b: Retry): Retry {
  if (a.is === 'never') return b;
  if (b.is === 'never') return a;
  if (a.is === 'after' && b.is === 'after') return { is: 'after', ms: Math.min(a.ms, b.ms) };
  if (a.is === 'backoff' && b.is === 'backoff') return backoff(Math.min(a.atLeastMs ?? 0, b.atLeastMs ?? 0));
  return { is: 'backoff' };
}
