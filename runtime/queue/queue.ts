import type { Clock, Timer } from '../clock.ts';
import { TokenBucket } from './token-bucket.ts';

/** What a queue reports about itself. Durations in seconds. */
export interface QueueMetrics {
  /** Priorities are reported in steps of `priorityStep`: so many keys wait with this priority, or one up to the next step. */
  depth(priority: number, waiting: number): void;
  added(): void;
  retried(): void;
  waited(seconds: number): void;
  worked(seconds: number): void;
}

/** Pace of retries: per key `baseMs · 2ⁿ` up to `maxMs`, and a token bucket over all keys. */
export interface RetryPace {
  readonly baseMs: number;
  readonly maxMs: number;
  readonly perSecond: number;
  readonly burst: number;
}

/** As client-go has it: 5 ms to 1000 s per key, 10 retries a second with a burst of 100 over all. */
export const defaultPace: RetryPace = { baseMs: 5, maxMs: 1_000_000, perSecond: 10, burst: 100 };

/** The distance between two priorities that are reported apart. */
export const priorityStep = 100;

/** So often, the key that has waited longest is next, whatever its priority: none waits for ever. */
const oldestEvery = 8;

export interface QueueOptions {
  readonly clock: Clock;
  /** The priority of a key that is added without one, and the least of one that runs again; 0 by default. */
  readonly priorityOf?: (key: string) => number;
  readonly pace?: RetryPace;
  readonly metrics?: QueueMetrics;
}

export interface Consumer {
  readonly concurrency: number;
  /** Reconciles one key. Should not reject: a rejection is reported to `failed` and the key retried with backoff. */
  reconcile(key: string): Promise<void>;
  failed(key: string, error: unknown): void;
}

interface Waiting {
  readonly priority: number;
  readonly since: number;
}

interface Delayed {
  readonly due: number;
  readonly timer: Timer;
}

/**
 * Keys to reconcile. A key waits at most once and never runs twice at the same time; added while it runs, it runs again
 * afterwards. Higher priorities go first, equal ones in order of arrival. The two highest steps of priorities take turns, so that many
 * keys of one do not keep those of the other waiting; one turn of eight is that of the oldest key.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #pace: RetryPace;
  readonly #metrics: QueueMetrics | undefined;
  readonly #bucket: TokenBucket;
  readonly #priorityOf: (key: string) => number;
  readonly #lines = new Map<number, Set<string>>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #running = new Map<string, number>();
  readonly #again = new Map<string, number>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #failures = new Map<string, number>();
  #consumer: Consumer | undefined;
  #aside = 0;
  #turns = 0;
  #stopped = false;
  readonly #drained: (() => void)[] = [];

  constructor(options: QueueOptions) {
    this.#clock = options.clock;
    this.#pace = options.pace ?? defaultPace;
    this.#metrics = options.metrics;
    this.#bucket = new TokenBucket(options.clock, this.#pace);
    this.#priorityOf = options.priorityOf ?? (() => 0);
  }

  /** Enqueues the key. A key that waits already moves forward when the priority is higher. */
  add(key: string, priority = this.#priorityOf(key)): void {
    if (this.#stopped) return;
    this.#metrics?.added();
    if (this.#running.has(key)) this.#again.set(key, Math.max(priority, this.#again.get(key) ?? -Infinity));
    else this.#enqueue(key, priority);
    this.#pump();
  }

  /** Enqueues the key after `ms`. The earliest of several counts; any reconcile that begins before it replaces it. */
  addAfter(key: string, ms: number, priority?: number): void {
    if (this.#stopped) return;
    if (ms <= 0) {
      this.add(key, priority);
      return;
    }
    const due = this.#clock.monotonic() + ms;
    const earlier = this.#delayed.get(key);
    if (earlier !== undefined && earlier.due <= due) return;
    earlier?.timer.cancel();
    const timer = this.#clock.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key, priority);
    });
    this.#delayed.set(key, { due, timer });
  }

  /**
   * Enqueues the key after its backoff, which grows with every call until `forget`, and not before `atLeastMs`.
   * Returns the delay in ms.
   */
  addRateLimited(key: string, options: { readonly priority?: number; readonly atLeastMs?: number } = {}): number {
    if (this.#stopped) return 0;
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const own = Math.min(this.#pace.baseMs * 2 ** failures, this.#pace.maxMs);
    const delay = Math.max(own, options.atLeastMs ?? 0, this.#bucket.reserve());
    this.#metrics?.retried();
    this.addAfter(key, delay, options.priority);
    return delay;
  }

  /** The key's next failure starts with the shortest backoff again. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Forgets the backoff and a delayed reconcile: the object is gone. A reconcile that waits or runs is left. */
  drop(key: string): void {
    this.forget(key);
    this.#delayed.get(key)?.timer.cancel();
    this.#delayed.delete(key);
  }

  /** Takes the next key, which runs until `done`. Undefined when none waits. */
  take(): string | undefined {
    const key = (this.#turns + 1) % oldestEvery === 0 ? this.#oldest() : this.#first(this.#turns % 2 === 1);
    if (key === undefined) return undefined;
    this.#turns += 1;
    const now = this.#clock.monotonic();
    const { since } = this.#leave(key);
    this.#metrics?.waited((now - since) / 1000);
    this.#delayed.get(key)?.timer.cancel();
    this.#delayed.delete(key);
    this.#running.set(key, now);
    return key;
  }

  /** Ends a run that `take` began. */
  done(key: string): void {
    const since = this.#running.get(key);
    if (since === undefined) return;
    this.#running.delete(key);
    this.#metrics?.worked((this.#clock.monotonic() - since) / 1000);
    const again = this.#again.get(key);
    this.#again.delete(key);
    if (again !== undefined && !this.#stopped) this.#enqueue(key, Math.max(again, this.#priorityOf(key)));
    if (this.#running.size === 0)
      this.#drained.splice(0).forEach((resolve) => {
        resolve();
      });
    this.#pump();
  }

  /** Reconciles keys from now on, at most `concurrency` at once, besides those that are set aside. One consumer per queue. */
  consume(consumer: Consumer): void {
    if (this.#consumer !== undefined) throw new Error('this queue already has a consumer');
    this.#consumer = consumer;
    this.#pump();
  }

  /** So many of the running keys only wait for servers elsewhere from now on: others run in their place. */
  setAside(count: number): void {
    this.#aside = count;
    this.#pump();
  }

  /** Accepts no more keys and drops those that wait or are delayed; running reconciles continue. */
  shutdown(): void {
    this.#stopped = true;
    for (const { timer } of this.#delayed.values()) timer.cancel();
    for (const priority of new Set([...this.#lines.keys()].map(stepOf))) this.#metrics?.depth(priority, 0);
    for (const map of [this.#delayed, this.#waiting, this.#lines, this.#again, this.#failures]) map.clear();
  }

  /** Resolves when nothing runs. */
  drained(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** Keys that wait for a free worker. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** Keys with a reconcile at a later time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Keys that something is remembered of; a key may be counted several times. */
  get remembered(): number {
    const maps = [this.#waiting, this.#running, this.#again, this.#delayed, this.#failures];
    return maps.reduce((sum, { size }) => sum + size, 0);
  }

  /** Seconds since each running reconcile began: for `unfinished_work` and `longest_running_processor`. */
  runningSeconds(): readonly number[] {
    const now = this.#clock.monotonic();
    return [...this.#running.values()].map((since) => (now - since) / 1000);
  }

  #enqueue(key: string, priority: number): void {
    const before = this.#waiting.get(key);
    if (before !== undefined && before.priority >= priority) return;
    if (before !== undefined) this.#leave(key);
    let line = this.#lines.get(priority);
    if (line === undefined) this.#lines.set(priority, (line = new Set()));
    line.add(key);
    this.#waiting.set(key, { priority, since: before?.since ?? this.#clock.monotonic() });
    this.#tellDepth(priority);
  }

  #leave(key: string): Waiting {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) throw new Error(`key ${key} is not waiting`);
    this.#waiting.delete(key);
    const line = this.#lines.get(waiting.priority);
    line?.delete(key);
    if (line?.size === 0) this.#lines.delete(waiting.priority);
    this.#tellDepth(waiting.priority);
    return waiting;
  }

  /** Every other turn, those of the highest step let another one go first whose priority is above 0. */
  #first(letsPass: boolean): string | undefined {
    if (this.#lines.size === 0) return undefined;
    const priorities = [...this.#lines.keys()];
    const highest = Math.max(...priorities);
    const below = letsPass ? Math.max(...priorities.filter((one) => one < stepOf(highest))) : -Infinity;
    return this.#lines
      .get(below > 0 ? below : highest)
      ?.values()
      .next().value;
  }

  #oldest(): string | undefined {
    let oldest: string | undefined;
    let least = Infinity;
    for (const line of this.#lines.values()) {
      const key = line.values().next().value;
      const since = key === undefined ? undefined : this.#waiting.get(key)?.since;
      if (since === undefined || since >= least) continue;
      oldest = key;
      least = since;
    }
    return oldest;
  }

  #tellDepth(priority: number): void {
    if (this.#metrics === undefined) return;
    const step = stepOf(priority);
    let waiting = 0;
    for (const [one, { size }] of this.#lines) if (stepOf(one) === step) waiting += size;
    this.#metrics.depth(step, waiting);
  }

  #pump(): void {
    const consumer = this.#consumer;
    if (consumer === undefined || this.#stopped) return;
    while (this.#running.size < consumer.concurrency + this.#aside) {
      const key = this.take();
      if (key === undefined) return;
      this.#reconcile(consumer, key).catch((error: unknown) => {
        consumer.failed(key, error);
      });
    }
  }

  async #reconcile(consumer: Consumer, key: string): Promise<void> {
    try {
      await consumer.reconcile(key);
    } catch (error) {
      consumer.failed(key, error);
      this.addRateLimited(key);
    } finally {
      this.done(key);
    }
  }
}

function stepOf(priority: number): number {
  return Math.floor(priority / priorityStep) * priorityStep;
}
