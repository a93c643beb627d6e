import { describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { processorsOf, startLimit } from './start-limit.ts';
import { StartQueue } from './start-queue.ts';

function begin(): {
  readonly queue: StartQueue;
  readonly take: (name: string, namespace?: string, limit?: number, isCalled?: boolean) => number | undefined;
  readonly clock: FakeClock;
  readonly memory: ObjectMemory;
  readonly enqueued: string[];
} {
  const enqueued: string[] = [];
  const [clock, memory] = [new FakeClock(), new ObjectMemory()];
  const queue = new StartQueue({ clock, memory, enqueue: ({ name }) => enqueued.push(name) });
  const take = (name: string, namespace = 'many', limit = 3, isCalled = false): number | undefined => {
    const tcp = tenantControlPlaneWith({});
    return queue.take({ ...tcp, metadata: { ...tcp.metadata, namespace, name, uid: `uid-${name}` } }, limit, isCalled);
  };
  return { queue, take, clock, memory, enqueued };
}

describe('A queue of starting control planes', () => {
  test('lets as many start as its limit says, and the one that has waited longest follows', () => {
    const { queue, take, enqueued } = begin();
    expect(['a', 'b', 'c', 'd'].map((name) => take(name))).toEqual([undefined, undefined, 2, 2]);
    expect(take('a')).toBeUndefined();
    queue.ended('uid-b');
    expect(enqueued).toEqual(['c']);
    expect(take('c')).toBeUndefined();
    expect(take('d')).toBe(2);
    queue.ended('uid-a');
    queue.ended('uid-a');
    expect(enqueued).toEqual(['c', 'd']);
  });

  test('does not wait for pods that do not become ready, or for a control plane that was deleted', async () => {
    const { take, clock, memory } = begin();
    ['a', 'b', 'c'].map((name) => take(name));
    await clock.advance(29_999);
    expect(take('c')).toBe(2);
    memory.drop('uid-a');
    expect(take('c')).toBeUndefined();
    expect(take('d')).toBe(2);
    await clock.advance(1);
    expect(take('d')).toBeUndefined();
  });

  test('enqueues the next one if one that waited does not want to start anymore', () => {
    const { queue, take, enqueued } = begin();
    ['a', 'b', 'c', 'd'].map((name) => take(name));
    queue.ended('uid-a');
    queue.ended('uid-b');
    expect(enqueued).toEqual(['c', 'd']);
  });

  test('never gives all turns to one namespace, unless there is only one', () => {
    const { take } = begin();
    expect([take('a'), take('b'), take('c'), take('x', 'other'), take('y', 'other')]).toEqual([
      ...[undefined, undefined, 2],
      ...[undefined, 3],
    ]);
    expect([begin().take('a', 'many', 1), begin().take('a', 'many', Infinity)]).toEqual([undefined, undefined]);
  });

  test('does not enqueue a control plane that was deleted while it waited', () => {
    const { queue, take, memory, enqueued } = begin();
    ['a', 'b', 'c', 'd'].map((name) => take(name));
    memory.drop('uid-c');
    queue.ended('uid-a');
    expect(enqueued).toEqual(['d']);
  });
});

describe('A turn that has ended without pods that are ready', () => {
  test('is given to the next one at once, which nobody has to ask for', async () => {
    const { take, clock, enqueued } = begin();
    ['a', 'b', 'c', 'd'].map((name) => take(name));
    await clock.advance(29_999);
    expect(enqueued).toEqual([]);
    await clock.advance(1);
    expect(enqueued).toEqual(['c', 'd']);
  });

  test('needs no timer while nobody waits', () => {
    const { take, clock, queue } = begin();
    take('a');
    expect(clock.pending).toBe(0);
    ['b', 'c'].map((name) => take(name));
    expect(clock.pending).toBe(1);
    queue.ended('uid-a');
    take('c');
    expect(clock.pending).toBe(0);
  });

  test('is not taken by one that comes later, and goes on to the next one if it is not wanted', async () => {
    const { queue, take, clock, enqueued } = begin();
    ['a', 'b', 'c', 'd'].map((name) => take(name));
    queue.ended('uid-a');
    expect([take('e'), enqueued]).toEqual([2, ['c']]);
    await clock.advance(3_000);
    expect(enqueued).toEqual(['c', 'd']);
    expect(take('d')).toBeUndefined();
  });
});

describe('With one turn', () => {
  test('namespaces that wait take turns, however many of one do not start', async () => {
    const { take, clock, enqueued } = begin();
    expect(take('a1', 'a', 1)).toBeUndefined();
    expect([take('a2', 'a', 1), take('a3', 'a', 1), take('b1', 'b', 1), take('b2', 'b', 1)]).toEqual([1, 1, 1, 1]);
    for (let turns = 0; turns < 4; turns += 1) {
      await clock.advance(30_000);
      const next = enqueued.at(-1) ?? '';
      take(next, next.slice(0, 1), 1);
    }
    expect(enqueued).toEqual(['b1', 'a2', 'b2', 'a3']);
  });
});

describe('One that was called', () => {
  test('starts beside as many as may start at once, and others after it do not', () => {
    const { take } = begin();
    ['a', 'b'].map((name) => take(name));
    take('x', 'other');
    expect([take('c', 'many', 3, true), take('d', 'many', 3, true), take('y', 'other')]).toEqual([undefined, 4, 4]);
  });

  test('is followed by another one that was called when its pods are ready, of another namespace if there is one', () => {
    const { queue, take, enqueued } = begin();
    ['a', 'b'].map((name) => take(name));
    take('x', 'other');
    take('c', 'many', 3, true);
    take('usual', 'other');
    take('d', 'many', 3, true);
    take('y', 'other', 3, true);
    queue.ended('uid-c');
    expect(enqueued).toEqual(['y']);
    expect(take('y', 'other')).toBeUndefined();
    queue.ended('uid-y');
    expect(enqueued).toEqual(['y', 'd']);
  });

  test('has been called also when it asks again for another reason', () => {
    const { queue, take, enqueued } = begin();
    ['a', 'b'].map((name) => take(name));
    take('x', 'other');
    take('c', 'many', 3, true);
    take('d', 'many', 3, true);
    expect(take('d')).toBe(4);
    queue.ended('uid-c');
    expect(enqueued).toEqual(['d']);
  });
});

describe('The limit', () => {
  test.each([
    [0, Infinity],
    [0.5, 2],
    [1, 2],
    [2, 4],
    [3.9, 8],
    [64, 128],
  ])('for %s processors is %s', (processors, limit) => {
    expect(startLimit(processors)).toBe(limit);
  });

  test('counts the processors that pods may use', () => {
    const node = (cpu: string | undefined, unschedulable?: boolean): never =>
      ({ spec: { unschedulable }, status: { allocatable: { cpu } } }) as never;
    expect([node('1930m'), node('4'), node('8', true), node(undefined)].map(processorsOf)).toEqual([1.93, 4, 0, 0]);
  });
});
