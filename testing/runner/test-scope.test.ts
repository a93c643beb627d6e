import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { testScope } from './test-scope.ts';

const scenarios = join(import.meta.dirname, '../../e2e/scenarios');

test('the whole scope leaves nothing out, and is the default', () => {
  expect(testScope('whole').leftOut).toEqual([]);
  expect(testScope('whole').releases.map(({ minor }) => minor)).toContain('1.29');
});

test('the core has the two newest minors and leaves out scenarios that exist', () => {
  const { leftOut, releases } = testScope('core');
  expect(releases.map(({ minor }) => minor)).toEqual(['1.36', '1.35']);
  expect(leftOut.filter((name) => !existsSync(join(scenarios, `${name}.test.ts`)))).toEqual([]);
  expect(leftOut.length).toBeGreaterThan(0);
});

test('an unknown scope is refused with the known ones', () => {
  expect(() => testScope('quick')).toThrow('STEWARD_TESTS is "quick": say core, or whole');
});
