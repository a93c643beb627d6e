import { expect, test } from '@jest/globals';
import { measureClaim } from './measure-claim.ts';

test.each([
  ['as long as it has existed', '2030-01-01T00:00:00Z', [1.5]],
  ['no time if the clock of the API server is ahead', '2030-01-01T00:00:09Z', [0]],
  ['nothing without a time of creation', undefined, []],
])('a claim that is bound has waited %s', (_, creationTimestamp, expected) => {
  const measured: number[] = [];
  const measure = measureClaim(
    { now: () => new Date('2030-01-01T00:00:01.5Z') },
    { claimBound: (seconds) => void measured.push(seconds) },
  );
  const name = { namespace: 'team', name: 'mine', uid: 'u', resourceVersion: '1', generation: 1 };
  measure({ metadata: { ...name, ...(creationTimestamp !== undefined && { creationTimestamp }) } });
  expect(measured).toEqual(expected);
});
