import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { ApiError, RetryError, TerminalError, UnreachableError } from '../client/errors.ts';
import type { ReconcileOutcome } from '../reconcile/reconciler.ts';
import { WorkQueue } from './queue.ts';
import { repeatable } from './repeats.ts';
import { RetrySchedule } from './retry-schedule.ts';

/** One key whose reconciles end as given, and the times of the reconciles and of the repeated requests. */
class Scheduled {
  readonly clock = new FakeClock();
  readonly queue = new WorkQueue({ clock: this.clock });
  readonly reconciled: number[] = [];
  missesEvents = false;
  #counted = 0;
  end: () => ReconcileOutcome | Promise<ReconcileOutcome>;
  readonly schedule = new RetrySchedule({
    queue: this.queue,
    clock: this.clock,
    concurrency: 8,
    concernsMany: false,
    stop: new AbortController().signal,
    missesEvents: () => this.missesEvents,
  });

  constructor(end: () => ReconcileOutcome | Promise<ReconcileOutcome>) {
    this.end = end;
    this.queue.consume({
      concurrency: 8,
      failed: (_key, error) => {
        throw error;
      },
      reconcile: async (key) => {
        const turn = this.schedule.begin(key);
        if (turn === undefined) return;
        if (!turn.asksFirst || (await this.schedule.askAgain(key, turn))) {
          this.reconciled.push(this.clock.monotonic());
          this.schedule.ended(key, turn, await this.end());
        }
        turn.end();
      },
    });
    this.queue.add('a');
  }

  change(cause: 'edited' | 'watched'): void {
    this.schedule.changed('a', cause);
    this.queue.add('a', 10);
  }

  /** Advances the clock and returns the reconciles since the last call. */
  async within(ms: number): Promise<number> {
    await this.clock.advance(ms);
    const before = this.#counted;
    this.#counted = this.reconciled.length;
    return this.#counted - before;
  }
}

const hour = 3_600_000;

describe('A reconcile that', () => {
  test.each<[string, ReconcileOutcome]>([
    ['requests 25 ms', { afterMs: 25 }],
    ['requests the next one at once', { afterMs: 0 }],
    ['requests 100 ms', { afterMs: 100 }],
    ['meets an object of another owner', { error: new RetryError('OwnedByAnother', 'not ours', 2_000) }],
    ['fails in one part and requests 25 ms in another', { error: new Error('no'), afterMs: 25 }],
  ])('%s and makes no progress is repeated once a minute in the end', async (_how, end) => {
    const scheduled = new Scheduled(() => end);
    await scheduled.within(hour);
    expect(await scheduled.within(hour)).toBeLessThanOrEqual(61);
  });

  test.each([0, 1, 100])(
    'finds its status lost is not repeated within a minute, although it requests %i ms',
    async (afterMs) => {
      const scheduled = new Scheduled(() => ({ afterMs, outdated: true, progressed: true }));
      expect(await scheduled.within(0)).toBe(1);
      expect(await scheduled.within(59_999)).toBe(0);
      expect(await scheduled.within(10 * 60_000)).toBeLessThanOrEqual(11);
    },
  );

  test('met a changed object is repeated soon, with growing delays', async () => {
    const scheduled = new Scheduled(() => ({ again: true }));
    await scheduled.within(40);
    expect(scheduled.reconciled).toEqual([0, 5, 15, 35]);
  });

  test('only a change of the spec can fix is not repeated', async () => {
    const scheduled = new Scheduled(() => ({ error: new TerminalError('InvalidSpec', 'no') }));
    await scheduled.within(0);
    expect(await scheduled.within(hour)).toBe(0);
  });

  test('was backed off runs at once after a change of the spec, and after a watched one', async () => {
    const scheduled = new Scheduled(() => ({ afterMs: 25 }));
    await scheduled.within(hour);
    for (const cause of ['edited', 'watched'] as const) {
      scheduled.change(cause);
      expect(await scheduled.within(0)).toBe(1);
      await scheduled.within(hour);
    }
  });
});

describe('A request that a server elsewhere refused', () => {
  const refusing = (): Scheduled =>
    new Scheduled(async () => {
      const error: unknown = await repeatable(() => Promise.reject(new UnreachableError('no'))).catch(
        (e: unknown) => e,
      );
      return { elsewhere: { error, afterMs: 25 } };
    });

  test('is repeated without a reconcile, which still runs now and then', async () => {
    const scheduled = refusing();
    expect(await scheduled.within(20 * 60_000)).toBe(1);
    expect(await scheduled.within(20 * 60_000)).toBe(1);
  });

  test('is not repeated instead of a reconcile while a watch is broken', async () => {
    const scheduled = refusing();
    scheduled.missesEvents = true;
    expect(await scheduled.within(600_000)).toBeGreaterThan(10);
  });

  test('does not prevent a reconcile for another reason', async () => {
    let isRefused = true;
    const scheduled = new Scheduled(async () => {
      const error: unknown = await repeatable(() =>
        isRefused ? Promise.reject(new ApiError(500, 'X', 'no')) : Promise.resolve(),
      ).catch((e: unknown) => e);
      return error === undefined ? {} : { error, afterMs: 90_000 };
    });
    await scheduled.within(0);
    expect(await scheduled.within(400_000)).toBe(4);
    isRefused = false;
    expect(await scheduled.within(60_000)).toBe(1);
    expect(await scheduled.within(hour)).toBe(0);
  });
});
