import { describe, expect, test } from '@jest/globals';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { sleep } from '../clock.ts';
import { waitElsewhere } from './elsewhere.ts';
import { WorkQueue } from './queue.ts';
import { RetrySchedule } from './retry-schedule.ts';

/** Eight workers over keys of which some wait for servers that never answer. */
function workers(clock: FakeClock): {
  readonly queue: WorkQueue;
  readonly ran: ReadonlyMap<string, number>;
  /** Keys that were not cut short once. */
  readonly ended: ReadonlySet<string>;
  /** Ends the work of those that do not hang. */
  readonly finish: () => void;
  readonly busy: () => {
    /** Reconciles that hang now, and the most of them at once. */
    readonly now: number;
    readonly most: number;
    readonly working: number;
    readonly mostWorking: number;
  };
} {
  const queue = new WorkQueue({ clock });
  const schedule = new RetrySchedule({
    queue,
    clock,
    concurrency: 8,
    concernsMany: false,
    stop: new AbortController().signal,
    missesEvents: () => false,
  });
  const ran = new Map<string, number>();
  const ended = new Set<string>();
  const finished = Promise.withResolvers<undefined>();
  let [waiting, most, working, mostWorking] = [0, 0, 0, 0];
  const work = async (): Promise<void> => {
    working += 1;
    mostWorking = Math.max(mostWorking, working);
    await finished.promise;
    working -= 1;
  };
  const hang = async (): Promise<void> => {
    waiting += 1;
    // Those that have just begun are not slow yet.
    most = Math.max(most, waiting);
    await waitElsewhere((cut) => sleep(clock, 10_000, cut)).finally(() => {
      waiting -= 1;
    });
  };
  queue.consume({
    concurrency: 8,
    failed: (_key, error) => {
      throw error;
    },
    reconcile: async (key) => {
      const turn = schedule.begin(key);
      if (turn === undefined) return;
      await turn.elsewhere.run(async () => {
        if (key.startsWith('hanging')) await hang().catch(() => undefined);
        if (key.startsWith('working')) await work();
      });
      if (!ran.has(key)) ran.set(key, clock.monotonic());
      if (turn.elsewhere.signal.aborted) schedule.cut(key, turn);
      else {
        ended.add(key);
        schedule.ended(key, turn, key.startsWith('hanging') ? { afterMs: 25 } : {});
      }
      turn.end();
    },
  });
  const finish = (): void => {
    finished.resolve(undefined);
  };
  return { queue, ran, ended, finish, busy: () => ({ now: waiting, most, working, mostWorking }) };
}

describe('A queue with eight workers', () => {
  test.each([8, 40, 100])('delays other keys less than two seconds behind %i tenants that hang', async (count) => {
    const clock = new FakeClock();
    const { queue, ran, busy } = workers(clock);
    for (let n = 0; n < count; n += 1) queue.add(`hanging-${n}`);
    await clock.advance(20_000);
    expect(busy().now).toBeLessThanOrEqual(4);
    for (let n = 0; n < 30; n += 1) {
      const since = clock.monotonic();
      queue.add(`innocent-${n}`);
      await clock.advance(2_000);
      expect((ran.get(`innocent-${n}`) ?? Infinity) - since).toBeLessThan(500);
    }
  });

  test.each([
    [8, 2_000],
    [40, 3_000],
    [100, 7_000],
  ])('with %i hanging tenants added at the same time delays other keys less than %i ms', async (count, limitMs) => {
    const clock = new FakeClock();
    const { queue, ran } = workers(clock);
    for (let n = 0; n < count; n += 1) queue.add(`hanging-${n}`);
    queue.add('innocent');
    await clock.advance(limitMs);
    expect(ran.has('innocent')).toBe(true);
  });

  test('gives hanging reconciles no worker: eight others run beside them', async () => {
    const clock = new FakeClock();
    const { queue, busy, finish } = workers(clock);
    for (let n = 0; n < 40; n += 1) queue.add(`hanging-${n}`);
    await clock.advance(20_000);
    expect(busy().now).toBe(3);
    for (let n = 0; n < 30; n += 1) queue.add(`working-${n}`);
    await clock.advance(500);
    expect(busy().working).toBe(8);
    finish();
    await clock.advance(600_000);
    expect(busy().mostWorking).toBe(8);
  });

  test('does not abort a reconcile while there is room: each of them waits to its end', async () => {
    const clock = new FakeClock();
    const { queue, ended } = workers(clock);
    for (let n = 0; n < 20; n += 1) queue.add(`hanging-${n}`);
    // Three at a time, ten seconds each.
    await clock.advance(120_000);
    expect(ended.size).toBe(20);
  });

  test('runs every tenant that hangs, and none twice at the same time', async () => {
    const clock = new FakeClock();
    const { queue, ran } = workers(clock);
    for (let n = 0; n < 100; n += 1) queue.add(`hanging-${n}`);
    await clock.advance(600_000);
    expect(ran.size).toBe(100);
  });
});

test('gives a server that answers its time back, up to two seconds in all', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock });
  let asked = 0;
  const schedule = new RetrySchedule({
    queue,
    clock,
    concurrency: 2,
    concernsMany: false,
    stop: new AbortController().signal,
    missesEvents: () => false,
  });
  const turns = ['a', 'b'].map((key) => schedule.begin(key));
  for (const turn of turns) {
    turn?.elsewhere
      .run(async () => {
        for (let n = 0; n < 100; n += 1) {
          await waitElsewhere((cut) => sleep(clock, 200, cut));
          asked += 1;
        }
      })
      .catch(() => undefined);
  }
  await settle();
  await clock.advance(1_900);
  expect(turns.map((turn) => turn?.elsewhere.signal.aborted)).toEqual([false, false]);
  await clock.advance(300);
  expect(turns.filter((turn) => turn?.elsewhere.signal.aborted === true).length).toBe(1);
  expect(asked).toBeGreaterThan(15);
});
