import { describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { apiServerMetrics } from '../../testing/builders/api-server-metrics.ts';
import type { CountedRequests } from '../../testing/builders/api-server-metrics.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { UseMeter } from './use-meter.ts';
import type { UsedServer, UseTarget } from './use-meter.ts';

const minuteMs = 60_000;
const uid = 'tenant';

/** One tenant whose use is read, with pods that count what a test says. */
class Metering {
  readonly clock = new FakeClock();
  readonly meter: UseMeter;
  pods: readonly UsedServer[];
  counts: Record<string, CountedRequests> = {};
  /** How often the pods were listed, and each of them was read. */
  lists = 0;
  reads = 0;
  changes = 0;
  fails = false;
  target: UseTarget;

  constructor({ pods = ['a'], ...target }: { readonly pods?: readonly string[] } & Partial<UseTarget> = {}) {
    const { clock } = this;
    this.meter = new UseMeter({ clock, log: silent, memory: new ObjectMemory(), random: () => 0 });
    this.pods = pods.map((id) => ({ id, host: id }));
    this.target = {
      afterIdleMs: 30 * minuteMs,
      version: '1',
      recorded: undefined,
      servers: () => {
        this.lists += 1;
        return Promise.resolve(this.pods);
      },
      lines: (server) => this.#lines(server ?? this.pods[0]),
      changed: () => {
        this.changes += 1;
      },
      ...target,
    };
    this.meter.watch(uid, this.target);
  }

  async *#lines(server: UsedServer | undefined): AsyncGenerator<string> {
    this.reads += 1;
    if (this.fails) throw new Error('connection refused');
    const counted = this.counts[server?.id ?? ''] ?? {};
    yield* apiServerMetrics({ ...counted, requests: { exempt: 1, ...counted.requests } }).split('\n');
    await Promise.resolve();
  }

  /** Lets minutes pass; a reading has ended then. */
  async pass(minutes: number): Promise<void> {
    await this.clock.advance(minutes * minuteMs);
  }

  use(pod: string, requests: number): void {
    this.counts = { ...this.counts, [pod]: { requests: { 'global-default': requests } } };
  }

  get state(): string | undefined {
    return this.meter.finding(uid)?.state;
  }
}

describe('The use of a tenant', () => {
  test('is in use at first, idle after five minutes, and unused for long enough after afterIdle', async () => {
    const metering = new Metering();
    expect(metering.state).toBeUndefined();
    await metering.pass(1);
    expect(metering.state).toBe('InUse');
    await metering.pass(5);
    expect(metering.meter.finding(uid)).toMatchObject({ state: 'Idle', since: new Date('2030-01-01T00:00:00Z') });
    await metering.pass(24);
    expect(metering.meter.finding(uid)).toMatchObject({ unusedMs: 30 * minuteMs, isProven: true });
  });

  test('is reconciled when its state changes, and once it may fall asleep', async () => {
    const metering = new Metering();
    await metering.pass(1);
    expect(metering.changes).toBe(1);
    await metering.pass(28);
    expect(metering.changes).toBe(2);
    await metering.pass(1);
    expect(metering.changes).toBe(3);
    metering.use('a', 1);
    await metering.pass(1);
    expect([metering.changes, metering.state]).toEqual([4, 'InUse']);
  });

  test('takes one request a minute, and none to the management cluster at rest', async () => {
    const metering = new Metering();
    await metering.pass(29);
    expect([metering.reads, metering.lists]).toEqual([30, 1]);
    await metering.pass(1);
    expect([metering.reads, metering.lists]).toEqual([31, 2]);
  });

  test('takes one request a minute for three pods together, too', async () => {
    const metering = new Metering({ pods: ['a', 'b', 'c'] });
    await metering.pass(29);
    expect([metering.reads, metering.lists]).toEqual([30, 1]);
  });

  test('is that of all pods', async () => {
    const metering = new Metering({ pods: ['a', 'b'] });
    await metering.pass(10);
    expect(metering.state).toBe('Idle');
    metering.use('b', 1);
    await metering.pass(2);
    expect(metering.state).toBe('InUse');
  });

  test('counts as use that a pod has gone, come or started again', async () => {
    const metering = new Metering({ pods: ['a', 'b'] });
    for (const [version, pods] of [
      ['2', ['a']],
      ['3', ['a', 'c']],
      ['4', ['a', 'c, started again']],
    ] as const) {
      await metering.pass(10);
      expect(metering.state).toBe('Idle');
      metering.pods = pods.map((id) => ({ id, host: id }));
      metering.meter.watch(uid, { ...metering.target, version });
      await metering.pass(2);
      expect(metering.state).toBe('InUse');
    }
  });

  test('is proven to be none only by a reading of a moment ago, of pods that were listed for it', async () => {
    const metering = new Metering();
    await metering.pass(29);
    expect(metering.meter.finding(uid)).toMatchObject({ isProven: false });
    await metering.pass(1);
    expect(metering.meter.finding(uid)).toMatchObject({ isProven: true });
    await metering.pass(0.6);
    expect(metering.meter.finding(uid)).toMatchObject({ isProven: false, unusedMs: 30 * minuteMs });
  });

  test('is unknown after three failed readings, with the cause, and goes on when it can be read', async () => {
    const metering = new Metering();
    await metering.pass(10);
    metering.fails = true;
    await metering.pass(2);
    expect([metering.state, metering.meter.finding(uid)?.isProven]).toEqual(['Idle', false]);
    await metering.pass(1);
    expect(metering.meter.finding(uid)).toMatchObject({
      ...{ state: 'Unknown', message: 'connection refused', unusedMs: 0, isProven: false },
    });
    metering.fails = false;
    await metering.pass(1);
    // The same process has counted nothing in the meantime.
    expect(metering.meter.finding(uid)).toMatchObject({ state: 'Idle', since: new Date('2030-01-01T00:00:00Z') });
  });

  test('is unknown while a reading does not end', async () => {
    const metering = new Metering({
      lines: async function* (_server, signal) {
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error);
          });
        });
      },
    });
    await metering.pass(4);
    expect(metering.meter.finding(uid)).toMatchObject({ state: 'Unknown', message: 'it took more than 10 seconds' });
  });

  test('is read of no pod any longer after another one could not be read', async () => {
    const left: string[] = [];
    const metering = new Metering({
      pods: ['a', 'b'],
      lines: async function* (server, signal) {
        if (server?.id === 'a') throw new Error('connection refused');
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve);
        });
        left.push(server?.id ?? '');
      },
    });
    await metering.pass(0.01);
    expect(left).toEqual(['b']);
  });

  test('is unknown while so many pods have the labels of the control plane that some must be others', async () => {
    const metering = new Metering({ pods: Array.from({ length: 51 }, (_, index) => `pod-${index}`) });
    await metering.pass(3);
    expect(metering.meter.finding(uid)?.message).toBe('more than 50 pods have the labels of the control plane');
    expect(metering.reads).toBe(0);
  });

  test('is unknown while no pod runs', async () => {
    const metering = new Metering({ pods: [] });
    await metering.pass(3);
    expect(metering.meter.finding(uid)?.message).toBe('no pod of the control plane is ready');
  });

  test('is no longer read when it is stopped', async () => {
    const metering = new Metering();
    await metering.pass(1);
    metering.meter.stop(uid);
    const { reads } = metering;
    await metering.pass(10);
    expect([metering.reads, metering.meter.size, metering.state]).toEqual([reads, 0, undefined]);
  });
});

describe('A manager that starts', () => {
  const since = new Date('2029-12-31T23:50:00Z');

  /** What a manager has recorded of an idle tenant with so many requests. */
  async function recorded(requests: number): Promise<string> {
    const before = new Metering();
    before.use('a', requests);
    await before.pass(10);
    return before.meter.finding(uid)?.counters ?? '';
  }

  test('goes on from what was recorded if the same processes have counted the same', async () => {
    const metering = new Metering({ recorded: { since, counters: await recorded(3) } });
    metering.use('a', 3);
    await metering.pass(1);
    expect(metering.meter.finding(uid)).toMatchObject({ state: 'Idle', since });
    await metering.pass(19);
    expect(metering.meter.finding(uid)).toMatchObject({ unusedMs: 30 * minuteMs, isProven: true });
  });

  test.each([
    ['a request was counted', 'a', 4],
    ['the process is another one', 'b', 3],
  ])('begins again if %s', async (_what, pod, requests) => {
    const metering = new Metering({ pods: [pod], recorded: { since, counters: await recorded(3) } });
    metering.use(pod, requests);
    await metering.pass(1);
    expect(metering.state).toBe('InUse');
  });

  test('begins again if what was recorded is in the future', async () => {
    const later = new Date('2030-01-01T12:00:00Z');
    const metering = new Metering({ recorded: { since: later, counters: await recorded(0) } });
    await metering.pass(1);
    expect(metering.state).toBe('InUse');
  });
});
