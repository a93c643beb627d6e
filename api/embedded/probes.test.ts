import { expect, test } from '@jest/globals';
import { validate } from '../structural/validate.ts';
import { probeTimings } from './probes.ts';

const timing = (seconds: number) => ({
  initialDelaySeconds: seconds,
  timeoutSeconds: seconds,
  periodSeconds: seconds,
  successThreshold: seconds,
  failureThreshold: seconds,
});

test('a probe may start at once, and every other number of its timing is at least 1', () => {
  expect(validate(probeTimings.openapi, { liveness: timing(1) })).toEqual([]);
  expect(validate(probeTimings.openapi, { readiness: timing(0) }).map(({ field }) => field)).toEqual([
    'readiness.timeoutSeconds',
    'readiness.periodSeconds',
    'readiness.successThreshold',
    'readiness.failureThreshold',
  ]);
});
