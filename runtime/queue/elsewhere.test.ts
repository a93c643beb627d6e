import { expect, test } from '@jest/globals';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import type { Clock } from '../clock.ts';
import { Elsewhere, slowRules } from './elsewhere.ts';
import { detached } from '../detached.ts';
import { silent } from '../observe/logger.ts';

/** A server that never answers is waited for, in a process whose timers are late by `late()` milliseconds. */
function waiting(late: () => number): { readonly clock: FakeClock; readonly isSlow: () => boolean } {
  const clock = new FakeClock();
  let slow = false;
  const busy: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic() + late(),
    after: (ms, action) => clock.after(ms, action),
  };
  const elsewhere = new Elsewhere(busy, () => {
    slow = true;
  });
  detached(
    elsewhere.wait(() => new Promise<never>(() => undefined)),
    silent,
    'a reconcile that waits',
  );
  return { clock, isSlow: () => slow };
}

test('a reconcile is slow after a quarter of a second without an answer', async () => {
  const { clock, isSlow } = waiting(() => 0);
  await clock.advance(slowRules.silentMs - 1);
  expect(isSlow()).toBe(false);
  await clock.advance(1);
  expect(isSlow()).toBe(true);
});

test('a server is not slow while this process is too busy to read its answers', async () => {
  let late = 0;
  const { clock, isSlow } = waiting(() => late);
  late = 200;
  await clock.advance(slowRules.silentMs);
  expect(isSlow()).toBe(false);
  // No later than before: the process has time again.
  await clock.advance(slowRules.silentMs);
  expect(isSlow()).toBe(true);
});
