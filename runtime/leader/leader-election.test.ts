import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { kinds } from '../../api/core/kinds.ts';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import type { Clock } from '../clock.ts';
import { UnreachableError } from '../client/errors.ts';
import { guardWrites } from '../client/guard-writes.ts';
import { wrapCluster } from '../client/wrap-cluster.ts';
import { LeaderElection, type LeaderOptions } from './leader-election.ts';
import { silent } from '../observe/logger.ts';

const lease = { namespace: 'steward-system', name: 'leader' };
let clock: FakeClock;
let server: FakeCluster;

beforeEach(() => {
  clock = new FakeClock();
  server = new FakeCluster({ now: () => clock.now().getTime() });
});

type Trouble = 'none' | 'refused' | 'hangs' | 'answer lost';

/** One replica: its own way to the server, which a test can break, and its own clock, which a test can make late. */
class Replica {
  readonly election: LeaderElection;
  trouble: Trouble = 'none';
  lateMs = 0;
  lost: Error | undefined;
  writes = 0;

  constructor(identity: string, over: Partial<LeaderOptions> = {}) {
    const late: Clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, action) => clock.after(ms + this.lateMs, action),
    };
    const call = async <T>(action: () => Promise<T>): Promise<T> => {
      if (this.trouble === 'refused') throw new UnreachableError('connection refused');
      if (this.trouble === 'hangs') return new Promise<never>(() => undefined);
      const answer = await action();
      if (this.trouble === 'answer lost') throw new UnreachableError('connection reset');
      return answer;
    };
    const cluster = wrapCluster(server.admin, ({ isWrite, send }) => {
      if (isWrite) this.writes += 1;
      return call(send);
    });
    this.election = new LeaderElection({
      cluster,
      clock: late,
      log: silent,
      lease,
      identity,
      random: () => 0.5,
      lost: (why) => {
        this.lost = why;
      },
      ...over,
    });
    this.election.start();
  }

  get leads(): boolean {
    return this.election.leads;
  }
}

/** Advances time in small steps and checks at every step that no two lead. */
const watchFor = async (ms: number, ...replicas: Replica[]): Promise<void> => {
  for (let at = 0; at < ms; at += 250) {
    await clock.advance(250);
    expect(replicas.filter(({ leads }) => leads).length).toBeLessThanOrEqual(1);
  }
};
const stored = async (): Promise<unknown> => (await server.admin.get(kinds.Lease, lease))?.spec;

describe('leader election', () => {
  test('a process that starts in place of a killed leader leads at once, and no other one does', async () => {
    const killed = new Replica('pod-a_uid-1_first', { predecessors: 'pod-a_uid-1_' });
    await watchFor(5_000, killed);
    killed.trouble = 'hangs';
    const other = new Replica('pod-b_uid-2_first', { predecessors: 'pod-b_uid-2_' });
    const namesake = new Replica('pod-a_uid-3_first', { predecessors: 'pod-a_uid-3_' });
    await watchFor(5_000, other, namesake);
    expect([other.leads, namesake.leads]).toEqual([false, false]);
    const next = new Replica('pod-a_uid-1_second', { predecessors: 'pod-a_uid-1_' });
    await watchFor(1_000, other, namesake, next);
    expect(next.leads).toBe(true);
    expect(await stored()).toMatchObject({ holderIdentity: 'pod-a_uid-1_second', leaseTransitions: 1 });
  });

  test('the first candidate leads and keeps renewing, the second waits', async () => {
    const [a, b] = [new Replica('a'), new Replica('b')];
    await watchFor(60_000, a, b);
    expect([a.leads, b.leads]).toEqual([true, false]);
    expect(await stored()).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
    await a.election.elected;
  });

  test('a leader has one timer, for its next renewal, however often it has renewed', async () => {
    const a = new Replica('a');
    await watchFor(60_000, a);
    expect([a.leads, clock.pending]).toEqual([true, 1]);
  });

  test('a leader that retires releases the lease, and another one leads within one retry', async () => {
    const a = new Replica('a');
    await watchFor(1000, a);
    const b = new Replica('b');
    await watchFor(5000, a, b);
    await a.election.release();
    expect([a.leads, a.lost]).toEqual([false, undefined]);
    await watchFor(2500, a, b);
    expect(b.leads).toBe(true);
    expect(await stored()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  test('a leader that retires releases the lease also if the response to its last renewal was lost', async () => {
    const a = new Replica('a');
    await watchFor(1000, a);
    a.trouble = 'answer lost';
    await watchFor(2500, a);
    a.trouble = 'none';
    await a.election.release();
    expect(await stored()).not.toHaveProperty('holderIdentity');
  });

  test('a leader that retires does not change a lease that another process has taken', async () => {
    const a = new Replica('a');
    await watchFor(1000, a);
    await server.admin.patch(kinds.Lease, lease, { type: 'merge', body: { spec: { holderIdentity: 'successor' } } });
    await a.election.release();
    expect(await stored()).toMatchObject({ holderIdentity: 'successor', leaseDurationSeconds: 15 });
  });

  test('an election whose answer arrives after its deadline is not won', async () => {
    const answer = Promise.withResolvers<undefined>();
    const slow = wrapCluster(server.admin, async ({ isWrite, send }) => {
      if (!isWrite) await answer.promise;
      return send();
    });
    const told: boolean[] = [];
    // The timers are late too: only the clock shows that the time is over.
    const late: Clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, action) => clock.after(ms + 60_000, action),
    };
    const a = new Replica('a', { cluster: slow, clock: late, status: (leads) => void told.push(leads) });
    await watchFor(10_000, a);
    answer.resolve(undefined);
    await watchFor(250, a);
    expect(await stored()).toMatchObject({ holderIdentity: 'a' });
    expect([a.leads, told]).toEqual([false, []]);
    await watchFor(63_000, a);
    expect([a.leads, told]).toEqual([true, [true]]);
  });

  test.each<Trouble>(['refused', 'hangs', 'answer lost'])(
    'a leader whose requests are %s stops in time, and another one leads after it',
    async (trouble) => {
      const a = new Replica('a');
      await watchFor(1000, a);
      const b = new Replica('b');
      await watchFor(5000, a, b);
      a.trouble = trouble;
      await watchFor(10_000, a, b);
      expect(a.leads).toBe(false);
      expect(a.lost?.message).toBe('the lease was not renewed for 10 s');
      await watchFor(30_000, a, b);
      expect(b.leads).toBe(true);
    },
  );

  test('a crashed leader is followed by another one after 15 to 20 s', async () => {
    const a = new Replica('a');
    await watchFor(1000, a);
    const b = new Replica('b');
    await watchFor(6000, b);
    a.trouble = 'hangs';
    const crashed = clock.monotonic();
    while (!b.leads) await watchFor(250, a, b);
    const took = clock.monotonic() - crashed;
    expect(took).toBeGreaterThan(12_000);
    expect(took).toBeLessThan(20_000);
  });

  test('a leader survives short failures', async () => {
    const a = new Replica('a');
    await watchFor(1000, a);
    a.trouble = 'refused';
    await watchFor(3000, a);
    a.trouble = 'answer lost';
    await watchFor(2000, a);
    a.trouble = 'none';
    await watchFor(60_000, a);
    expect([a.leads, a.lost]).toEqual([true, undefined]);
  });

  test('a renewal that fires too late counts as expired and is not attempted', async () => {
    const a = new Replica('a');
    await watchFor(3000, a);
    a.lateMs = 12_000;
    await watchFor(4000, a);
    const { writes } = a;
    await watchFor(8000, a);
    expect(a.leads).toBe(false);
    await watchFor(20_000, a);
    expect([a.writes, a.lost?.message]).toEqual([writes, 'the lease was not renewed for 10 s']);
  });

  test('leadership ends at once when another process takes the lease', async () => {
    const a = new Replica('a');
    await watchFor(3000, a);
    await server.admin.patch(kinds.Lease, lease, { type: 'merge', body: { spec: { holderIdentity: 'thief' } } });
    await watchFor(2000, a);
    expect([a.leads, a.lost?.message]).toEqual([false, 'the lease is held by thief now']);
  });

  test('only one of two candidates that create the lease at the same moment leads', async () => {
    const both = ['a', 'b'].map((identity) => new Replica(identity));
    await watchFor(5000, ...both);
    expect(both.filter(({ leads }) => leads)).toHaveLength(1);
  });

  test('invalid durations are refused', () => {
    expect(() => new Replica('a', { durationMs: 10_000 })).toThrow('otherwise two could lead at once');
  });

  test('two candidates never lead at once, whatever fails and when, and a new candidate leads in the end', async () => {
    const trouble = fc.constantFrom<Trouble>('none', 'refused', 'hangs', 'answer lost');
    const step = fc.record({
      who: fc.nat(2),
      trouble,
      lateMs: fc.constantFrom(0, 0, 3000, 12_000),
      forMs: fc.integer({ min: 1, max: 60 }).map((n) => n * 250),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        clock = new FakeClock();
        server = new FakeCluster({ now: () => clock.now().getTime() });
        const replicas = ['a', 'b', 'c'].map((identity) => new Replica(identity));
        for (const { who, forMs, ...over } of steps) {
          Object.assign(replicas[who] ?? {}, over);
          await watchFor(forMs, ...replicas);
        }
        for (const replica of replicas) Object.assign(replica, { trouble: 'refused' });
        const fresh = new Replica('fresh');
        await watchFor(40_000, ...replicas, fresh);
        expect(fresh.leads).toBe(true);
      }),
      { numRuns: 15 },
    );
  });
});

describe('a lease that several hold together', () => {
  const together = { isShared: true };

  test('is renewed by each of them without a conflict, and nobody else gets it before all have ended', async () => {
    const [a, b] = [new Replica('group', together), new Replica('group', together)];
    await clock.advance(1000);
    expect([a.leads, b.leads]).toEqual([true, true]);
    const other = new Replica('other');
    await clock.advance(5000);
    const before = [a.writes, b.writes];
    await clock.advance(20_000);
    // A refused one would be repeated.
    expect([a.writes, b.writes].map((writes, n) => writes - (before[n] ?? 0))).toEqual([10, 10]);
    a.trouble = 'refused';
    await clock.advance(40_000);
    expect([a.leads, b.leads, other.leads]).toEqual([false, true, false]);
    b.trouble = 'refused';
    await clock.advance(20_000);
    expect([b.leads, other.leads]).toEqual([false, true]);
  });

  test('is not renewed once it is another one’s', async () => {
    const a = new Replica('group', together);
    await clock.advance(1000);
    const body = { spec: { holderIdentity: 'other' } };
    await server.admin.patch(kinds.Lease, lease, { type: 'merge', body });
    await clock.advance(3000);
    expect(a.lost?.message).toBe('the lease is held by other now');
    expect(await stored()).toMatchObject({ holderIdentity: 'other' });
  });
});

test('a guarded client refuses writes as soon as leadership has ended, and still reads', async () => {
  const a = new Replica('a');
  await watchFor(1000, a);
  const guarded = guardWrites(server, () => {
    a.election.assertLeads();
  });
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'default' } };
  await guarded.create(kinds.ConfigMap, configMap);
  a.trouble = 'hangs';
  await watchFor(11_000, a);
  const key = { namespace: 'default', name: 'x' };
  const writes = [
    guarded.create(kinds.ConfigMap, configMap),
    guarded.apply(kinds.ConfigMap, configMap, { fieldManager: 'x' }),
    guarded.patch(kinds.ConfigMap, key, { type: 'merge', body: {} }),
    guarded.delete(kinds.ConfigMap, key),
  ];
  for (const write of writes) await expect(write).rejects.toThrow('is not the leader');
  expect(await guarded.get(kinds.ConfigMap, key)).toBeDefined();
  await settle();
  expect(server.calls.filter(({ verb }) => verb !== 'get')).toHaveLength(1);
});
