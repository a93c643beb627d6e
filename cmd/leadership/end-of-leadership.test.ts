import { expect, test } from '@jest/globals';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { endOfLeadership } from './end-of-leadership.ts';

test('A manager that loses leadership exits before another may lead, even if something keeps running', async () => {
  const clock = new FakeClock();
  const log: string[] = [];
  endOfLeadership({ clock, stop: () => void log.push('stop'), exit: () => void log.push('exit') });
  expect(log).toEqual(['stop']);
  // A Lease lasts 15 s, and is given up 10 s after its last renewal.
  await clock.advance(4_000);
  expect(log).toEqual(['stop', 'exit']);
});

test('A manager after which another one may begin soon exits before, and one after which it may have begun already at once', async () => {
  const clock = new FakeClock();
  const log: string[] = [];
  const parts = { clock, stop: () => void log.push('stop'), exit: () => void log.push('exit') };
  endOfLeadership({ ...parts, leftMs: 500 });
  await clock.advance(500);
  expect(log).toEqual(['stop', 'exit']);
  endOfLeadership({ ...parts, leftMs: 0 });
  expect(log).toEqual(['stop', 'exit', 'exit']);
});
