import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { kinds, type Lease } from '../../api/core/kinds.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import type { Clock } from '../clock.ts';
import { ApiError, UnreachableError } from '../client/errors.ts';
import { guardWrites } from '../client/guard-writes.ts';
import { wrapCluster } from '../client/wrap-cluster.ts';
import { silent } from '../observe/logger.ts';
import { Membership, type MembershipOptions } from './membership.ts';

const namespace = 'steward-system';
const label = 'example.com/shard';
const annotation = 'example.com/claim';
const keys = Array.from({ length: 12 }, (_, n) => `tenants/tenant-${n}`);

let clock: FakeClock;
let server: FakeCluster;

const begin = (): void => {
  clock = new FakeClock();
  server = new FakeCluster({ now: () => clock.now().getTime() });
};

beforeEach(begin);

/** `late`: a write arrives 8.5 s after it was sent, whether or not its sender still waits. */
type Trouble = 'none' | 'refused' | 'hangs' | 'answer lost' | 'late';

/** One process: its own way to the server, which a test can break, and its own timers, which a test can make late. */
class Process {
  readonly membership: Membership;
  readonly running = new Map<string, () => void>();
  trouble: Trouble = 'none';
  lateMs = 0;
  /** How many steps it works on a key. */
  worksFor = 1;
  lost: Error | undefined;
  leftMs: number | undefined;
  requests = 0;
  refused = 0;
  /** Called before the holder of another's Lease is taken from it. */
  beforeTaking: () => Promise<void> = () => Promise.resolve();
  readonly #since = new Map<string, number>();

  constructor(name: string, over: Partial<MembershipOptions> = {}) {
    const late: Clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, action) => clock.after(ms + this.lateMs, action),
    };
    const call = async <T>(isWrite: boolean, send: () => Promise<T>): Promise<T> => {
      const action = (): Promise<T> =>
        send().catch((error: unknown) => {
          if (error instanceof ApiError && error.code === 409) this.refused += 1;
          throw error;
        });
      this.requests += 1;
      if (this.trouble === 'refused') throw new UnreachableError('connection refused');
      if (this.trouble === 'hangs') return new Promise<never>(() => undefined);
      if (this.trouble === 'late' && isWrite) await new Promise<void>((resolve) => clock.after(8500, resolve));
      const answer = await action();
      if (this.trouble === 'answer lost') throw new UnreachableError('connection reset');
      return answer;
    };
    // What has been sent is not taken back by a signal.
    const sent = wrapCluster(server.admin, ({ isWrite, send }) =>
      call(isWrite, () => send({ signal: new AbortController().signal })),
    );
    this.membership = new Membership({
      cluster: {
        ...sent,
        patch: async (kind, key, patch, options) => {
          if (key.name !== name) await this.beforeTaking();
          return sent.patch(kind, key, patch, options);
        },
      },
      clock: late,
      log: silent,
      random: () => 0.5,
      lost: (why, leftMs) => {
        this.lost = why;
        this.leftMs = leftMs;
      },
      ...{ namespace, name, label, annotation, identity: `${name}_process` },
      ...over,
    });
    this.membership.start();
  }

  /** Ends what has run long enough and begins what it may. A process that has ended does neither. */
  work(): void {
    if (this.lost !== undefined) return;
    for (const [key, end] of [...this.running]) {
      const steps = (this.#since.get(key) ?? 0) + 1;
      this.#since.set(key, steps);
      if (steps < this.worksFor) continue;
      this.running.delete(key);
      this.#since.delete(key);
      end();
    }
    for (const key of keys) {
      const end = this.running.has(key) ? undefined : this.membership.begin(key);
      if (end !== undefined) this.running.set(key, end);
    }
  }

  /** The keys for which it may write now. */
  get writes(): readonly string[] {
    return this.membership.isFresh && this.lost === undefined ? [...this.running.keys()] : [];
  }

  get owned(): readonly string[] {
    return keys.filter((key) => this.membership.owns(key));
  }
}

/** Advances time in small steps, lets all work, and checks at every step that no two may write for the same key. */
const watchFor = async (ms: number, ...processes: Process[]): Promise<void> => {
  for (let at = 0; at < ms; at += 250) {
    await clock.advance(250);
    for (const process of processes) process.work();
    const all = processes.flatMap(({ writes }) => writes);
    if (new Set(all).size !== all.length) throw new Error(`two work on one of ${all.toSorted().join()}`);
  }
};

const leases = async (): Promise<readonly Lease[]> => (await server.admin.list(kinds.Lease, { namespace })).items;

const inAll = (...processes: Process[]): readonly string[] => processes.flatMap(({ owned }) => owned).sort();

describe('members', () => {
  test('the first one owns every key within a second', async () => {
    const a = new Process('a');
    await watchFor(1000, a);
    expect(a.owned).toEqual(keys);
  });

  test('three of them own each key once, a few seconds after the last one has joined', async () => {
    const a = new Process('a');
    await watchFor(5000, a);
    const [b, c] = [new Process('b'), new Process('c')];
    await watchFor(7000, a, b, c);
    expect(inAll(a, b, c)).toEqual(keys.toSorted());
    for (const { owned } of [a, b, c]) expect(owned.length).toBeGreaterThan(0);
    expect(a.membership.members).toEqual(['a', 'b', 'c']);
  });

  test('at rest each makes one list and one write in two seconds, and tells nobody that keys change hands', async () => {
    const [a, b] = [new Process('a'), new Process('b')];
    await watchFor(8000, a, b);
    let told = 0;
    a.membership.subscribe(() => (told += 1));
    const before = a.requests;
    await watchFor(22_000, a, b);
    expect(a.requests - before).toBe(20);
    expect(told).toBe(0);
  });

  test('a key that one still works on goes to nobody else before it has ended', async () => {
    const a = new Process('a');
    a.worksFor = 80;
    await watchFor(3000, a);
    const b = new Process('b');
    await watchFor(8000, a, b);
    expect(b.owned).toEqual([]);
    expect(a.running.size).toBe(keys.length);
    await watchFor(20_000, a, b);
    expect(inAll(a, b)).toEqual(keys.toSorted());
    expect(b.owned.length).toBeGreaterThan(0);
  });

  test('one that retires is followed at the next renewal of another', async () => {
    const [a, b] = [new Process('a'), new Process('b')];
    await watchFor(8000, a, b);
    a.lost = new Error('ended');
    const retired = a.membership.release();
    await watchFor(3000, b);
    await retired;
    expect(b.owned).toEqual(keys);
    expect(b.membership.members).toEqual(['b']);
    await watchFor(17_000, b);
    expect(await leases()).toHaveLength(1);
  });

  test.each<Trouble>(['refused', 'hangs'])(
    'the keys of one whose requests are %s are taken over within a lease and a renewal, after it has lost its own',
    async (trouble) => {
      const [a, b] = [new Process('a'), new Process('b')];
      await watchFor(8000, a, b);
      a.trouble = trouble;
      await watchFor(10_500, a, b);
      expect(a.lost?.message).toContain('was not renewed for 10 s');
      expect(a.leftMs).toBe(5000);
      expect(b.owned).not.toEqual(keys);
      await watchFor(17_000 - 10_500, a, b);
      expect(b.owned).toEqual(keys);
    },
  );

  test('one that hung and wakes up writes nothing and ends, also if nobody has missed it', async () => {
    const a = new Process('a');
    await watchFor(1000, a);
    const guarded = guardWrites(server, () => {
      a.membership.assertFresh();
    });
    a.lateMs = 60_000;
    await watchFor(20_000, a);
    expect(a.membership.owns('tenants/tenant-0')).toBe(false);
    const write = guarded.patch(kinds.ConfigMap, { namespace, name: 'x' }, { type: 'merge', body: {} });
    await expect(write).rejects.toThrow('it must not write');
    await watchFor(50_000, a);
    expect([a.lost?.message, a.leftMs]).toEqual(['the lease was not renewed for 10 s', 0]);
  });

  test('one whose lease was deleted ends at its next renewal and does not come back', async () => {
    const a = new Process('a');
    await watchFor(1000, a);
    await server.admin.delete(kinds.Lease, { namespace, name: 'a' });
    await watchFor(3000, a);
    expect(a.lost?.message).toContain('is gone');
    expect(a.leftMs).toBe(0);
    await watchFor(30_000, a);
    expect(await leases()).toEqual([]);
  });

  test('one whose lease a person deletes keeps its keys until it has ended, and is followed after a lease', async () => {
    const [a, b] = [new Process('a'), new Process('b')];
    await watchFor(8000, a, b);
    a.lateMs = 9000;
    await watchFor(2500, a, b);
    await server.admin.delete(kinds.Lease, { namespace, name: 'a' });
    await watchFor(11_000, a, b);
    expect(a.lost).toBeDefined();
    expect(b.owned).not.toEqual(keys);
    await watchFor(8500, a, b);
    expect(b.owned).toEqual(keys);
  });

  test('one whose lease a person deletes after a renewal that nobody has seen keeps its keys until it has ended', async () => {
    const [a, b] = [new Process('a'), new Process('b')];
    await watchFor(8000, a, b);
    b.lateMs = 6000;
    await watchFor(7000, a, b);
    // It hangs after its next renewal.
    a.lateMs = 60_000;
    await watchFor(500, a, b);
    await server.admin.delete(kinds.Lease, { namespace, name: 'a' });
    b.lateMs = 0;
    await watchFor(9500, a, b);
    expect(a.writes.length).toBeGreaterThan(0);
    await watchFor(10_000, a, b);
    expect(b.owned).toEqual(keys);
  });

  test('one whose renewal is answered after its time does not come back: what it refused meanwhile nobody would do', async () => {
    const a = new Process('a');
    await watchFor(4500, a);
    Object.assign(a, { trouble: 'late', lateMs: 60_000 });
    await watchFor(11_000, a);
    expect(a.membership.isFresh).toBe(false);
    expect(a.lost?.message).toContain('was not renewed for 10 s');
  });

  test('one is a member from the moment of its Lease, for others that have not looked since as well, until it has ended', async () => {
    const { signal } = new AbortController();
    const a = new Process('a');
    await watchFor(3000, a);
    const b = new Process('b');
    await watchFor(250, a, b);
    expect(a.membership.members).toEqual(['a']);
    expect(await a.membership.isMember('b', signal)).toBe(true);
    b.lost = new Error('ended');
    await b.membership.release();
    expect(await a.membership.isMember('b', signal)).toBe(false);
    expect(await a.membership.isMember('c', signal)).toBe(false);
  });

  test('a process that starts in the place of a killed one takes over its keys at once', async () => {
    const place = { predecessors: 'pod-a_uid-1_' };
    const killed = new Process('a', { ...place, identity: 'pod-a_uid-1_first' });
    await watchFor(3000, killed);
    killed.trouble = 'refused';
    killed.lost = new Error('killed');
    const next = new Process('b', { ...place, identity: 'pod-a_uid-1_second' });
    await watchFor(1000, next);
    expect(next.owned).toEqual(keys);
  });

  test('a lease that is renewed at the last moment is not taken', async () => {
    const [a, b] = [new Process('a'), new Process('b')];
    await watchFor(8000, a, b);
    const key = { namespace, name: 'a' };
    let renewals = 0;
    b.beforeTaking = async () => {
      renewals += 1;
      await server.admin.patch(kinds.Lease, key, { type: 'merge', body: { spec: { leaseTransitions: renewals } } });
    };
    a.lateMs = 60_000;
    await watchFor(17_000, a, b);
    expect(renewals).toBe(1);
    expect((await leases()).map(({ spec }) => spec?.holderIdentity)).toEqual(['a_process', 'b_process']);
  });

  test('a renewal that arrives after a later one is refused', async () => {
    const a = new Process('a');
    await watchFor(3000, a);
    a.trouble = 'late';
    await watchFor(2500, a);
    a.trouble = 'none';
    const b = new Process('b');
    await watchFor(10_000, a, b);
    // By now the delayed one, which did not name b, has been refused.
    const claim = (await leases()).find(({ metadata }) => metadata.name === 'a')?.metadata.annotations?.[annotation];
    expect(claim).toContain('["a","b"]');
    expect(a.refused).toBeGreaterThan(0);
    await watchFor(5000, a, b);
    expect(inAll(a, b)).toEqual(keys.toSorted());
  });

  test('a key that was held is released publicly as soon as the work on it ends', async () => {
    const a = new Process('a');
    a.worksFor = 31;
    await watchFor(3000, a);
    const b = new Process('b');
    const held = async (): Promise<boolean> =>
      (await leases()).some(({ metadata }) => metadata.annotations?.[annotation]?.includes('"held":["') === true);
    await watchFor(4000, a, b);
    expect(await held()).toBe(true);
    while (a.running.size > a.owned.length) await watchFor(250, a, b);
    await watchFor(250, a, b);
    expect(await held()).toBe(false);
  });

  test('nobody touches a key while a member does not say what it claims', async () => {
    const spec = { holderIdentity: 'other', leaseDurationSeconds: 15 };
    const metadata = { namespace, name: 'other', labels: { [label]: 'true' } };
    await server.admin.create(kinds.Lease, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
    const warnings: string[] = [];
    const a = new Process('a', { log: { ...silent, warn: (message) => void warnings.push(message) } });
    await watchFor(14_000, a);
    expect(a.owned).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('the claim of a lease cannot be read')]);
    await watchFor(4000, a);
    expect(a.owned).toEqual(keys);
  });

  test('times with which two could work on the same key are refused', () => {
    expect(() => new Process('a', { durationMs: 10_000 })).toThrow('otherwise two could work on the same object');
  });

  test('no two ever write for the same key, whatever fails and when, and those who are left own all keys', async () => {
    const step = fc.record({
      who: fc.nat(3),
      trouble: fc.constantFrom<Trouble>('none', 'none', 'refused', 'hangs', 'answer lost', 'late'),
      lateMs: fc.constantFrom(0, 0, 3000, 12_000, 40_000),
      worksFor: fc.constantFrom(1, 4, 30),
      isDeleted: fc.constantFrom(false, false, false, true),
      forMs: fc.integer({ min: 1, max: 60 }).map((n) => n * 250),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
        begin();
        const processes = ['a', 'b'].map((name) => new Process(name));
        let hasDeleted = false;
        for (const { who, forMs, isDeleted, ...over } of steps) {
          if (processes.length < 4) processes.push(new Process(`joined-${processes.length}`));
          Object.assign(processes[who] ?? {}, over);
          // One that begins in the same seconds could not know of it.
          const name = processes[who]?.membership.name ?? '';
          if (isDeleted && processes.every(({ lost, membership }) => lost ?? membership.members.includes(name))) {
            hasDeleted = await server.admin.delete(kinds.Lease, { namespace, name });
          }
          await watchFor(forMs, ...processes);
        }
        if (hasDeleted) await watchFor(26_000, ...processes);
        for (const process of processes) Object.assign(process, { trouble: 'refused', worksFor: 1 });
        const [left, second] = [new Process('left'), new Process('second')];
        await watchFor(60_000, ...processes, left, second);
        expect(inAll(left, second)).toEqual(keys.toSorted());
      }),
      { numRuns: 40 },
    );
  });
});
