import { expect, test } from '@jest/globals';

import { recordedTests } from './conformance-record.ts';

test('The record has every test by name, and claims nothing about one that was interrupted', () => {
  const tests = ['c', 'a', 'b'].map((name) => ({ name, sig: 'sig-node', serial: false }));
  const recorded = recordedTests(tests, [
    { name: 'c', outcome: 'failed', seconds: 2, message: 'late' },
    { name: 'b', outcome: 'interrupted', seconds: 1 },
    { name: 'of an older version', outcome: 'passed', seconds: 1 },
  ]);
  expect(recorded).toEqual([
    { name: 'a', outcome: 'not run' },
    { name: 'b', outcome: 'not run' },
    { name: 'c', outcome: 'failed', seconds: 2, message: 'late' },
  ]);
});
