import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { slownessVariable } from '../cluster/slowness.ts';

const before = process.env[slownessVariable] ?? '';

beforeEach(() => {
  process.env[slownessVariable] = '2';
});

afterEach(() => {
  process.env[slownessVariable] = before;
});

test('a limit in minutes is extended once on a slow machine, by the code that applies it', async () => {
  // Read for the first time now that the machine is slow.
  const { minutes } = await import('./minutes.ts');
  const { deadlineIn } = await import('./deadline-in.ts');
  // jest's environment extends the limits of tests and hooks.
  expect(3 * minutes).toBe(3 * 60_000);
  expect(deadlineIn(3 * minutes) - Date.now()).toBeGreaterThan(6 * 60_000 - 1000);
  expect(deadlineIn(3 * minutes) - Date.now()).toBeLessThanOrEqual(6 * 60_000);
});
