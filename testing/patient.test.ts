import { afterEach, expect, test } from '@jest/globals';
import { slownessVariable } from '../e2e/cluster/slowness.ts';
import { patient } from './patient.ts';

const said = process.env[slownessVariable];
afterEach(() => {
  if (said === undefined) Reflect.deleteProperty(process.env, slownessVariable);
  else process.env[slownessVariable] = said;
});

test.each([
  ['0.5', 20_000],
  ['1', 20_000],
  ['2', 40_000],
  // A signal and a child process take no parts of milliseconds.
  ['2.2299586932290322', 44_600],
])('on a machine that is %s times slower, 20 s are %d ms', (slower, ms) => {
  process.env[slownessVariable] = slower;
  expect(patient(20_000)).toBe(ms);
  expect(AbortSignal.timeout(patient(20_000)).aborted).toBe(false);
});
