import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { WorkQueue } from './queue.ts';

const queueAt = (clock: FakeClock): WorkQueue => new WorkQueue({ clock });

describe('A work queue', () => {
  test('contains a waiting key once and returns keys in order of arrival', () => {
    const queue = queueAt(new FakeClock());
    for (const key of ['a', 'b', 'a']) queue.add(key);
    expect([queue.take(), queue.take(), queue.take()]).toEqual(['a', 'b', undefined]);
  });

  test('runs a key again if it was added while it ran, and not before it is done', () => {
    const queue = queueAt(new FakeClock());
    queue.add('a');
    expect(queue.take()).toBe('a');
    queue.add('a');
    queue.add('a');
    expect(queue.take()).toBeUndefined();
    queue.done('a');
    expect(queue.take()).toBe('a');
    queue.done('a');
    expect(queue.take()).toBeUndefined();
  });

  test('gives an edit priority over the initial list, and moves a waiting key forward', () => {
    const queue = queueAt(new FakeClock());
    for (let n = 0; n < 100; n += 1) queue.add(`flood-${n}`, -100);
    queue.add('edited');
    queue.add('flood-99');
    queue.add('flood-98', -200);
    expect([queue.take(), queue.take(), queue.take()]).toEqual(['edited', 'flood-99', 'flood-0']);
  });

  test('gives one turn of eight to the key that has waited longest, whatever its priority', async () => {
    const clock = new FakeClock();
    const queue = queueAt(clock);
    queue.add('low', -100);
    await clock.advance(1);
    for (let n = 0; n < 20; n += 1) queue.add(`high-${n}`, 5);
    const taken = Array.from({ length: 16 }, () => queue.take());
    expect(taken.indexOf('low')).toBe(7);
    expect(taken.filter((key) => key?.startsWith('high'))).toHaveLength(15);
  });

  test('lets keys of the highest step take turns with others, unless those have no priority of their own', () => {
    const queue = queueAt(new FakeClock());
    for (const key of ['edit-0', 'edit-1', 'edit-2', 'edit-3']) queue.add(key, 100);
    for (const key of ['new-0', 'new-1']) queue.add(key, 2);
    queue.add('ready', 0);
    const taken = Array.from({ length: 7 }, () => queue.take());
    expect(taken).toEqual(['edit-0', 'new-0', 'edit-1', 'new-1', 'edit-2', 'edit-3', 'ready']);
  });

  test('asks for the priority of a key that is added without one, also when it runs again or is delayed', async () => {
    const clock = new FakeClock();
    const priorities = new Map([['near', 9]]);
    const queue = new WorkQueue({ clock, priorityOf: (key) => priorities.get(key) ?? 0 });
    for (const key of ['far', 'near']) queue.add(key);
    expect([queue.take(), queue.take()]).toEqual(['near', 'far']);
    for (const key of ['near', 'far']) queue.add(key);
    priorities.set('far', 20);
    for (const key of ['near', 'far']) queue.done(key);
    expect([queue.take(), queue.take()]).toEqual(['far', 'near']);
    for (const key of ['near', 'far']) queue.done(key);
    queue.addAfter('near', 10);
    queue.addAfter('other', 10);
    queue.addAfter('far', 10);
    await clock.advance(10);
    expect([queue.take(), queue.take(), queue.take()]).toEqual(['far', 'near', 'other']);
  });

  test('reports how many keys wait in steps of a hundred priorities', () => {
    const depths = new Map<number, number>();
    const none = (): void => undefined;
    const depth = (priority: number, waiting: number): unknown => depths.set(priority, waiting);
    const metrics = { depth, added: none, retried: none, worked: none, waited: none };
    const queue = new WorkQueue({ clock: new FakeClock(), metrics });
    for (const [key, priority] of Object.entries({ a: -100, b: -93, c: 0, d: 4, e: 100 })) queue.add(key, priority);
    expect(Object.fromEntries(depths)).toEqual({ '-100': 2, '0': 2, '100': 1 });
    queue.take();
    queue.take();
    expect(Object.fromEntries(depths)).toEqual({ '-100': 2, '0': 1, '100': 0 });
    queue.shutdown();
    expect(Object.fromEntries(depths)).toEqual({ '-100': 0, '0': 0, '100': 0 });
  });

  test('reports the wait of a key since it was added, although its priority was raised later', async () => {
    const clock = new FakeClock();
    const waited: number[] = [];
    const none = (): void => undefined;
    const metrics = { depth: none, added: none, retried: none, worked: none, waited: (s: number) => waited.push(s) };
    const queue = new WorkQueue({ clock, metrics });
    queue.add('a', -100);
    await clock.advance(3_000);
    queue.add('a', 10);
    await clock.advance(2_000);
    queue.take();
    expect(waited).toEqual([5]);
  });

  test('keeps the earliest of several delayed requeues, and a reconcile that begins replaces them', async () => {
    const clock = new FakeClock();
    const queue = queueAt(clock);
    queue.addAfter('a', 5000);
    queue.addAfter('a', 1000);
    queue.addAfter('a', 9000);
    await clock.advance(999);
    expect(queue.take()).toBeUndefined();
    await clock.advance(1);
    expect(queue.take()).toBe('a');
    queue.done('a');
    queue.addAfter('a', 1000);
    queue.add('a');
    queue.take();
    queue.done('a');
    expect(clock.pending).toBe(0);
  });

  test('backs off per key from 5 ms up to 1000 s, and starts over once forgotten', () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock, pace: { baseMs: 5, maxMs: 1_000_000, perSecond: 1e9, burst: 1e9 } });
    const delays = Array.from({ length: 20 }, () => queue.addRateLimited('a'));
    expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(delays.at(-1)).toBe(1_000_000);
    expect(queue.addRateLimited('b')).toBe(5);
    queue.forget('a');
    expect(queue.addRateLimited('a')).toBe(5);
  });

  test('continues to back off if a server requests a delay', () => {
    const queue = new WorkQueue({
      clock: new FakeClock(),
      pace: { baseMs: 500, maxMs: 1_000_000, perSecond: 1e9, burst: 1e9 },
    });
    const delays = Array.from({ length: 4 }, () => queue.addRateLimited('a', { atLeastMs: 1500 }));
    expect(delays).toEqual([1500, 1500, 2000, 4000]);
  });

  test('limits the retries of all keys together: a burst of 100, then ten a second', () => {
    const queue = queueAt(new FakeClock());
    const delays = Array.from({ length: 120 }, (_, n) => queue.addRateLimited(`key-${n}`));
    expect(delays.slice(0, 100).every((ms) => ms === 5)).toBe(true);
    expect(delays[100]).toBeCloseTo(100);
    expect(delays[119]).toBeCloseTo(2000);
  });

  test('forgets everything about a dropped key', async () => {
    const clock = new FakeClock();
    const queue = queueAt(clock);
    queue.addRateLimited('a');
    queue.addRateLimited('a');
    queue.drop('a');
    expect({ timers: clock.pending, delayed: queue.delayed }).toEqual({ timers: 0, delayed: 0 });
    await clock.advance(10_000);
    expect(queue.take()).toBeUndefined();
    expect(queue.addRateLimited('a')).toBe(5);
  });

  test('runs no more reconciles at once than its limit, and never two of one key', async () => {
    const queue = queueAt(new FakeClock());
    const running = new Set<string>();
    const finish: (() => void)[] = [];
    let most = 0;
    queue.consume({
      concurrency: 3,
      failed: () => undefined,
      reconcile: async (key) => {
        expect(running.has(key)).toBe(false);
        running.add(key);
        most = Math.max(most, running.size);
        await new Promise<void>((resolve) => finish.push(resolve));
        running.delete(key);
      },
    });
    for (let n = 0; n < 10; n += 1) queue.add(`key-${n % 5}`);
    for (let n = 0; n < 40; n += 1) {
      queue.add(`key-${n % 5}`);
      finish.shift()?.();
      await settle();
    }
    expect(most).toBe(3);
  });

  test('logs a reconcile that rejects and retries it with backoff', async () => {
    const clock = new FakeClock();
    const queue = queueAt(clock);
    const failures: unknown[] = [];
    let reconciles = 0;
    queue.consume({
      concurrency: 1,
      failed: (_, error) => failures.push(error),
      reconcile: () => {
        reconciles += 1;
        return reconciles === 1 ? Promise.reject(new Error('boom')) : Promise.resolve();
      },
    });
    queue.add('a');
    await clock.advance(5);
    expect({ reconciles, failures: failures.length }).toEqual({ reconciles: 2, failures: 1 });
  });

  test('accepts no more keys at shutdown and ends when the running ones are done', async () => {
    const clock = new FakeClock();
    const queue = queueAt(clock);
    let finish: () => void = () => undefined;
    queue.consume({
      concurrency: 1,
      failed: () => undefined,
      reconcile: () => new Promise((resolve) => (finish = resolve)),
    });
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 10);
    queue.shutdown();
    let drained = false;
    const draining = queue.drained().then(() => (drained = true));
    await clock.advance(100);
    expect({ drained, timers: clock.pending, depth: queue.depth }).toEqual({ drained: false, timers: 0, depth: 0 });
    finish();
    await draining;
    expect(drained).toBe(true);
  });

  test('reports its depth, wait and work', async () => {
    const clock = new FakeClock();
    const seen: string[] = [];
    const queue = new WorkQueue({
      clock,
      metrics: {
        depth: (priority, waiting) => seen.push(`depth ${priority} ${waiting}`),
        added: () => seen.push('added'),
        retried: () => seen.push('retried'),
        waited: (seconds) => seen.push(`waited ${seconds}`),
        worked: (seconds) => seen.push(`worked ${seconds}`),
      },
    });
    queue.add('a');
    await clock.advance(2000);
    queue.take();
    await clock.advance(3000);
    expect(queue.runningSeconds()).toEqual([3]);
    queue.done('a');
    expect(seen).toEqual(['added', 'depth 0 1', 'depth 0 0', 'waited 2', 'worked 3']);
  });
});

/** The naive model: lists searched from end to end. */
class Model {
  waiting: { key: string; priority: number }[] = [];
  running: string[] = [];
  again: { key: string; priority: number }[] = [];
  delayed: { key: string; due: number }[] = [];
  failures: string[] = [];
  now = 0;

  add(key: string, priority: number): void {
    if (this.running.includes(key)) {
      this.again.push({ key, priority });
      return;
    }
    const before = this.waiting.find((one) => one.key === key);
    if (before !== undefined && before.priority >= priority) return;
    this.waiting = [...this.waiting.filter((one) => one.key !== key), { key, priority }];
  }

  take(): string | undefined {
    const best = Math.max(...this.waiting.map(({ priority }) => priority));
    const next = this.waiting.find(({ priority }) => priority === best);
    if (next === undefined) return undefined;
    this.waiting = this.waiting.filter((one) => one !== next);
    this.delayed = this.delayed.filter(({ key }) => key !== next.key);
    this.running.push(next.key);
    return next.key;
  }

  done(key: string): void {
    if (!this.running.includes(key)) return;
    this.running = this.running.filter((one) => one !== key);
    const again = this.again.filter((one) => one.key === key).map(({ priority }) => priority);
    this.again = this.again.filter((one) => one.key !== key);
    if (again.length > 0) this.add(key, Math.max(...again));
  }

  fail(key: string): void {
    const times = this.failures.filter((one) => one === key).length;
    this.failures.push(key);
    this.after(key, 5 * 2 ** times);
  }

  after(key: string, ms: number): void {
    const due = this.now + ms;
    if (this.delayed.some((one) => one.key === key && one.due <= due)) return;
    this.delayed = [...this.delayed.filter((one) => one.key !== key), { key, due }];
  }

  advance(ms: number): void {
    this.now += ms;
    const due = this.delayed.filter((one) => one.due <= this.now).sort((a, b) => a.due - b.due);
    this.delayed = this.delayed.filter((one) => one.due > this.now);
    for (const { key } of due) this.add(key, 0);
  }
}

const key = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  fc.record({ do: fc.constant('add' as const), key, priority: fc.constantFrom(-100, 0, 10) }),
  fc.record({ do: fc.constant('take' as const) }),
  fc.record({ do: fc.constant('done' as const), key }),
  fc.record({ do: fc.constant('fail' as const), key }),
  fc.record({ do: fc.constant('after' as const), key, ms: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ do: fc.constant('forget' as const), key }),
  fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 60 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function play(steps: readonly Step[]): Promise<void> {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock, pace: { baseMs: 5, maxMs: 1e6, perSecond: 1e9, burst: 1e9 } });
  const model = new Model();
  for (const one of steps) {
    if (one.do === 'add') {
      queue.add(one.key, one.priority);
      model.add(one.key, one.priority);
    } else if (one.do === 'take') expect(queue.take()).toBe(model.take());
    else if (one.do === 'done') {
      queue.done(one.key);
      model.done(one.key);
    } else if (one.do === 'fail') {
      queue.addRateLimited(one.key);
      queue.done(one.key);
      model.fail(one.key);
      model.done(one.key);
    } else if (one.do === 'after') {
      queue.addAfter(one.key, one.ms);
      model.after(one.key, one.ms);
    } else if (one.do === 'forget') {
      queue.forget(one.key);
      model.failures = model.failures.filter((other) => other !== one.key);
    } else {
      await clock.advance(one.ms);
      model.advance(one.ms);
    }
    expect({ depth: queue.depth, delayed: queue.delayed, running: queue.runningSeconds().length }).toEqual({
      depth: model.waiting.length,
      delayed: model.delayed.length,
      running: model.running.length,
    });
  }
}

test('a work queue behaves like the simple model for any sequence of calls', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), play), { numRuns: 300 });
});
