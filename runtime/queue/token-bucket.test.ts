import { expect, test } from '@jest/globals';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { TokenBucket } from './token-bucket.ts';

test('a bucket that was idle for long is full: a burst, then the steady rate', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(clock, { perSecond: 10, burst: 5 });
  await clock.advance(3_600_000);
  const waits = Array.from({ length: 7 }, () => bucket.reserve());
  expect(waits).toEqual([0, 0, 0, 0, 0, 100, 200]);
  await clock.advance(3_600_000);
  expect(Array.from({ length: 6 }, () => bucket.tryTake())).toEqual([true, true, true, true, true, false]);
});
