import { expect, test } from '@jest/globals';
import { FakeClock } from '../testing/fake/fake-clock.ts';
import { deadline } from './deadline.ts';

test('a deadline has no reason until it expires, and then says how long there was no answer', async () => {
  const clock = new FakeClock();
  const limit = deadline(clock, 2_000, []);
  await clock.advance(1_999);
  expect([limit.signal.aborted, limit.reason]).toEqual([false, undefined]);
  await clock.advance(1);
  expect(limit.reason).toEqual(new Error('no answer within 2 s'));
});

test('a deadline has the reason of the parent that aborts first, even if that was before', () => {
  const parent = new AbortController();
  const limit = deadline(new FakeClock(), 2_000, [parent.signal]);
  const why = new Error('the manager stops');
  parent.abort(why);
  expect(limit.reason).toBe(why);
  expect(deadline(new FakeClock(), 2_000, [parent.signal]).reason).toBe(why);
});

test('a released deadline leaves no timer and follows no parent', () => {
  const clock = new FakeClock();
  const parent = new AbortController();
  const limit = deadline(clock, 2_000, [parent.signal]);
  limit.release();
  parent.abort(new Error('later'));
  expect([clock.pending, limit.signal.aborted]).toEqual([0, false]);
});
