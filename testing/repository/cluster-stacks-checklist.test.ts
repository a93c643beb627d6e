import { describe, expect, test } from '@jest/globals';
import { readChecklist } from './checklist.ts';
import { absentTests } from './named-tests.ts';

const items = readChecklist('cluster-stacks-checklist.md');
const numbers = (last: number): readonly string[] => Array.from({ length: last }, (_, index) => `${index + 1}`);

describe('The checklist of cluster stacks', () => {
  test('has all its lines: the features, and the defects of others', () => {
    expect(items.map(({ line }) => line.split('.')[0])).toEqual([...numbers(5), ...numbers(13)]);
  });

  test.each(items)('names a test, or says that there is none yet: $line', ({ tests, missing }) => {
    expect(tests.length + missing.length).toBeGreaterThan(0);
  });

  test.each(items)('names only tests that exist: $line', ({ tests }) => {
    expect(absentTests(tests)).toEqual([]);
  });
});
