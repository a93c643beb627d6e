import type { Clock } from '../clock.ts';
import { deadline } from '../deadline.ts';
import type { Elsewhere } from './elsewhere.ts';
import type { ReconcileOutcome } from '../reconcile/reconciler.ts';
import type { WorkQueue } from './queue.ts';
import type { Repeat } from './repeats.ts';
import { repeatsOf } from './repeats.ts';
import { RequeuePace } from './requeue-pace.ts';
import type { Cause, ReconcileEnd } from './requeue-pace.ts';
import { retryOf } from './retry-policy.ts';
import { SlowLane } from './slow-lane.ts';

export interface RetryScheduleOptions {
  readonly queue: WorkQueue;
  readonly clock: Clock;
  /** Keys that may run at once. */
  readonly concurrency: number;
  readonly concernsMany: boolean;
  /** Aborted when the process must not act anymore. */
  readonly stop: AbortSignal;
  /** True while changes may be missed because a watch is broken: then only a reconcile counts as a retry. */
  readonly missesEvents: () => boolean;
}

/** The turn of a key that may run now. */
export interface Turn {
  readonly elsewhere: Elsewhere;
  readonly since: number;
  /** Whether this turn repeats requests to servers elsewhere instead of a reconcile. */
  readonly asksFirst: boolean;
  /** Must be called when the turn is over. */
  end(): void;
}

/** What servers elsewhere refused, and how long repeating that may replace a reconcile. */
interface Refused {
  readonly repeats: readonly Repeat[];
  /** The next request to repeat. */
  next: number;
  readonly reconcileAt: number;
  readonly askedMs: number;
}

/** Limits of requests that replace a reconcile, in milliseconds unless noted. */
const asking = {
  /** The number of refused requests that are repeated at a time. */
  atOnce: 4,
  /** How long an answer is waited for. */
  answerMs: 5_000,
  /** A reconcile runs at the latest after this time. */
  reconcileMs: 30 * 60_000,
  /** The first wait after an error; the later ones follow the requeue pace. */
  firstMs: 100,
} as const;

/** The least time between two tries while the API server does not keep what is sent as status. */
const outdatedMs = 60_000;

/** Decides when keys run, whether a whole reconcile is worth it, and whose turn must wait. */
export class RetrySchedule {
  readonly #options: RetryScheduleOptions;
  readonly #pace: RequeuePace;
  readonly #lane: SlowLane;
  readonly #causes = new Map<string, Cause>();
  readonly #refused = new Map<string, Refused>();

  constructor(options: RetryScheduleOptions) {
    const { clock, concurrency, concernsMany, queue } = options;
    this.#options = options;
    this.#pace = new RequeuePace({ now: () => clock.monotonic(), concernsMany });
    this.#lane = new SlowLane({
      clock,
      // A request that hangs holds a connection and memory for ten seconds, though no worker.
      limit: Math.max(1, Math.floor((concurrency - 1) / 2)),
      resume: (key) => {
        queue.add(key);
      },
      slow: (count) => {
        queue.setAside(count);
      },
    });
  }

  /** Remembers why a key is about to run. */
  changed(key: string, cause: Exclude<Cause, 'time'>): void {
    if (this.#causes.get(key) !== 'edited') this.#causes.set(key, cause);
  }

  /** Nothing is remembered of a key: its object is gone. */
  forget(key: string): void {
    this.#pace.forget(key);
    this.#lane.forget(key);
    this.#causes.delete(key);
    this.#refused.delete(key);
  }

  /** Keys that something is remembered of; a key may be counted several times. */
  get remembered(): number {
    return this.#pace.size + this.#lane.parked + this.#causes.size + this.#refused.size;
  }

  /** The turn of a key; undefined when it must not run now: it is requeued by itself. */
  begin(key: string): Turn | undefined {
    const { queue, clock, missesEvents } = this.#options;
    const cause = this.#causes.get(key) ?? 'time';
    const waitMs = this.#pace.begin(key, cause);
    if (waitMs > 0) {
      queue.addAfter(key, waitMs);
      return undefined;
    }
    const run = this.#lane.enter(key, this.#pace.holds(key));
    if (run === undefined) return undefined;
    this.#causes.delete(key);
    const since = clock.monotonic();
    const refused = this.#refused.get(key);
    const asksFirst = cause === 'time' && refused !== undefined && since < refused.reconcileAt && !missesEvents();
    if (!asksFirst) this.#refused.delete(key);
    const end = (): void => {
      run.end();
    };
    return { elsewhere: run.elsewhere, end, since, asksFirst };
  }

  /** Repeats the refused requests. True if a reconcile makes sense; otherwise the key is requeued. */
  async askAgain(key: string, turn: Turn): Promise<boolean> {
    const { clock, queue, stop } = this.#options;
    const refused = this.#refused.get(key);
    if (refused === undefined) return true;
    const { repeats, next, reconcileAt } = refused;
    const count = Math.min(repeats.length, asking.atOnce);
    const some = Array.from({ length: count }, (_, n) => repeats[(next + n) % repeats.length]);
    refused.next = (next + count) % repeats.length;
    const limit = deadline(clock, asking.answerMs, [stop, turn.elsewhere.signal]);
    const answers = some.map((repeat) => repeat?.(limit.signal) ?? Promise.resolve(true));
    const changed = await Promise.all(answers).finally(() => {
      limit.release();
    });
    if (turn.elsewhere.signal.aborted) {
      this.cut(key, turn);
      return false;
    }
    if (changed.includes(true)) {
      this.#refused.delete(key);
      return true;
    }
    const now = clock.monotonic();
    const delay = this.#ended(key, turn, { askedMs: refused.askedMs, progressed: false }) ?? asking.reconcileMs;
    queue.addAfter(key, Math.max(Math.min(delay, reconcileAt - now), 1));
    return false;
  }

  /** The turn was aborted to make room: the key is requeued. */
  cut(key: string, { elsewhere, since }: Turn): void {
    const { queue, clock } = this.#options;
    const heldMs = Math.max(elsewhere.heldMs, 1_000);
    const tookMs = clock.monotonic() - since;
    queue.addAfter(key, this.#pace.ended(key, { askedMs: heldMs, progressed: false, heldMs, tookMs }) ?? heldMs);
  }

  /** Plans the next run after a reconcile. Returns the delay that it has; undefined when it waits for an event. */
  ended(key: string, turn: Turn, outcome: ReconcileOutcome): number | undefined {
    const { queue, clock } = this.#options;
    if (outcome.again === true) return queue.addRateLimited(key);
    const { repeats, askedMs, elsewhereMs, backoffMs } = requeuesOf(outcome);
    const least = outcome.outdated === true ? outdatedMs : 0;
    const { progressed = false, hasMore = false } = outcome;
    const delay = this.#ended(key, turn, { askedMs, progressed, hasMore });
    if (delay !== undefined) queue.addAfter(key, Math.max(delay, least));
    if (repeats.length > 0) {
      const requeues = Math.max(outcome.afterMs ?? Infinity, delay ?? 0);
      const reconcileAt = clock.monotonic() + Math.min(requeues, asking.reconcileMs);
      this.#refused.set(key, { repeats, next: 0, reconcileAt, askedMs: elsewhereMs });
    }
    if (backoffMs !== undefined) return queue.addRateLimited(key, { atLeastMs: Math.max(backoffMs, least) });
    queue.forget(key);
    return delay;
  }

  #ended(key: string, turn: Turn, end: Pick<ReconcileEnd, 'askedMs' | 'progressed' | 'hasMore'>): number | undefined {
    const tookMs = this.#options.clock.monotonic() - turn.since;
    return this.#pace.ended(key, { ...end, heldMs: turn.elsewhere.heldMs, tookMs });
  }
}

/** The requeues that the end of a reconcile requests. */
interface Requeues {
  /** The requests that are repeated instead of a reconcile; none if only a reconcile can help. */
  readonly repeats: readonly Repeat[];
  readonly askedMs: number | undefined;
  /** When the requests may be repeated. */
  readonly elsewhereMs: number;
  /** The least wait of an error that backs off by itself. */
  readonly backoffMs?: number;
}

function requeuesOf({ error, afterMs, elsewhere }: ReconcileOutcome): Requeues {
  const retry = error === undefined ? ({ is: 'never' } as const) : retryOf(error);
  const waited = elsewhere === undefined ? [] : repeatsOf(elsewhere.error);
  const failed = retry.is === 'never' ? [] : repeatsOf(error);
  const isOurs = retry.is !== 'never' && failed.length === 0;
  const repeats = isOurs ? [] : [...failed, ...waited];
  const ofError = isOurs && retry.is === 'backoff' ? undefined : delayOf(retry);
  const sooner = (...delays: readonly (number | undefined)[]): number | undefined => {
    const known = delays.filter((ms) => ms !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  };
  return {
    repeats,
    askedMs: sooner(afterMs, elsewhere?.afterMs, ofError),
    elsewhereMs: sooner(elsewhere?.afterMs, ofError) ?? asking.firstMs,
    ...(isOurs && retry.is === 'backoff' && { backoffMs: retry.atLeastMs ?? 0 }),
  };
}

/** The earliest time at which a failed request may be repeated. */
function delayOf(retry: ReturnType<typeof retryOf>): number | undefined {
  if (retry.is === 'never') return undefined;
  return retry.is === 'after' ? retry.ms : Math.max(retry.atLeastMs ?? 0, asking.firstMs);
}
