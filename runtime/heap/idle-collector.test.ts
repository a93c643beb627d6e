import { expect, test } from '@jest/globals';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { IdleCollector } from './idle-collector.ts';
import { ownHeap } from './own-heap.ts';

const mebibyte = 1024 * 1024;

function collectedHeap(): {
  clock: FakeClock;
  heap: { committed: number; busy: number };
  collections: () => number;
  stop: () => void;
} {
  const clock = new FakeClock();
  const heap = { committed: 200 * mebibyte, busy: 0.05 };
  let collections = 0;
  const collector = new IdleCollector({
    clock,
    look: () => ({ committedBytes: heap.committed, busy: heap.busy }),
    collect: () => {
      collections += 1;
      heap.committed = Math.min(heap.committed, 80 * mebibyte);
    },
  });
  collector.start();
  return {
    ...{ clock, heap, collections: () => collections },
    stop: () => {
      collector.stop();
    },
  };
}

test('a heap that has grown is shrunk as soon as the process has time', async () => {
  const { clock, heap, collections } = collectedHeap();
  heap.busy = 0.9;
  await clock.advance(60_000);
  expect(collections()).toBe(0);
  heap.busy = 0.05;
  await clock.advance(10_000);
  expect(collections()).toBe(1);
});

test('a heap that does not grow is left alone', async () => {
  const { clock, heap, collections } = collectedHeap();
  await clock.advance(600_000);
  expect(collections()).toBe(1);
  heap.committed = 200 * mebibyte;
  await clock.advance(10_000);
  expect(collections()).toBe(2);
});

test('a heap is shrunk after a burst of work, which may have left little of what was in use', async () => {
  const { clock, heap, collections } = collectedHeap();
  await clock.advance(10_000);
  expect(collections()).toBe(1);
  // Nothing was allocated in addition, as when all tenants are deleted.
  heap.busy = 0.5;
  await clock.advance(30_000);
  heap.busy = 0.05;
  await clock.advance(60_000);
  expect(collections()).toBe(2);
});

test('short work is no reason to collect', async () => {
  const { clock, heap, collections } = collectedHeap();
  await clock.advance(10_000);
  heap.busy = 0.5;
  await clock.advance(10_000);
  heap.busy = 0.2;
  await clock.advance(600_000);
  expect(collections()).toBe(1);
});

test('a heap that is to stay small is shrunk sooner', async () => {
  const clock = new FakeClock();
  const heap = { committed: 20 * mebibyte, collections: 0 };
  const look = () => ({ committedBytes: heap.committed, busy: 0 });
  const collect = (): void => {
    heap.collections += 1;
    heap.committed = 16 * mebibyte;
  };
  new IdleCollector({ clock, look, collect, spareBytes: 4 * mebibyte }).start();
  await clock.advance(10_000);
  heap.committed = 20 * mebibyte;
  await clock.advance(10_000);
  expect(heap.collections).toBe(1);
  heap.committed = 21 * mebibyte;
  await clock.advance(10_000);
  expect(heap.collections).toBe(2);
});

test('what a burst has left is given back, though it was collected in the middle of the burst and the heap has shrunk since', async () => {
  const clock = new FakeClock();
  const heap = { committed: 15 * mebibyte, rest: 15 * mebibyte, collections: 0 };
  const look = () => ({ committedBytes: heap.committed, busy: 0.1 });
  const collect = (): void => {
    heap.collections += 1;
    heap.committed = heap.rest;
  };
  new IdleCollector({ clock, look, collect, spareBytes: 4 * mebibyte }).start();
  await clock.advance(10_000);
  expect(heap.collections).toBe(1);
  Object.assign(heap, { committed: 34 * mebibyte, rest: 33 * mebibyte });
  await clock.advance(10_000);
  expect(heap.collections).toBe(2);
  heap.committed = 37 * mebibyte;
  await clock.advance(60_000);
  expect(heap.collections).toBe(2);
  Object.assign(heap, { committed: 22 * mebibyte, rest: 16 * mebibyte });
  await clock.advance(10_000);
  expect(heap.collections).toBe(3);
  await clock.advance(600_000);
  expect(heap.collections).toBe(3);
});

test('a heap of which nothing can be given back is not collected again and again', async () => {
  const clock = new FakeClock();
  let collections = 0;
  const collect = (): void => void (collections += 1);
  new IdleCollector({ clock, look: () => ({ committedBytes: 300 * mebibyte, busy: 0 }), collect }).start();
  await clock.advance(600_000);
  expect(collections).toBe(1);
});

test('nothing is collected after the end', async () => {
  const { clock, collections, stop } = collectedHeap();
  stop();
  await clock.advance(600_000);
  expect(collections()).toBe(0);
});

test('the heap of this process gives back what nobody uses', () => {
  const { look, collect } = ownHeap();
  const whileInUse = (): number => {
    const inUse = Array.from({ length: 100 }, (_, n) => Array.from({ length: 10_000 }, (_each, m) => `${n} and ${m}`));
    const { committedBytes } = look();
    // Used after the look, so that no collection of V8's own can come first.
    expect(inUse.length).toBe(100);
    return committedBytes;
  };
  const before = whileInUse();
  collect();
  const after = look();
  expect(before - after.committedBytes).toBeGreaterThan(5 * mebibyte);
  expect(after.busy).toBeGreaterThanOrEqual(0);
  expect(after.busy).toBeLessThanOrEqual(1);
});
