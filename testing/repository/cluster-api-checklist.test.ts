import { describe, expect, test } from '@jest/globals';
import { hasTest, readChecklist } from './checklist.ts';

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
    expect(tests.filter(({ file, title }) => !hasTest(file, title))).toEqual([]);
  });

  test('notices a title that does not exist', () => {
    expect(hasTest('testing/repository/cluster-api-checklist.test.ts', 'has all its lines')).toBe(true);
    expect(hasTest('testing/repository/cluster-api-checklist.test.ts', 'has no line')).toBe(false);
    expect(hasTest('testing/gone.test.ts', 'has all its lines')).toBe(false);
  });
});
