import { describe, expect, test } from '@jest/globals';
import { readChecklist } from './checklist.ts';
import { absentTests } from './named-tests.ts';

const items = readChecklist('cluster-api-checklist.md');

describe('The checklist of Cluster API', () => {
  test('has all its lines', () => {
    expect(items.map(({ line }) => line.split('.')[0])).toEqual(
      Array.from({ length: 13 }, (_, index) => `${index + 1}`),
    );
  });

  test.each(items)('names a test, or says that there is none yet: $line', ({ tests, missing }) => {
    expect(tests.length + missing.length).toBeGreaterThan(0);
  });

  test.each(items)('names only tests that exist: $line', ({ tests }) => {
    expect(absentTests(tests)).toEqual([]);
  });
});
