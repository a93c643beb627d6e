import { expect, test } from '@jest/globals';
import { buildMinutes, mostBuildMinutes } from './build-minutes.ts';

test('programs of one module are built together', () => {
  expect(buildMinutes(['kubernetes-1.35', 'kubernetes-1.35'])).toBe(buildMinutes(['kubernetes-1.35']));
});

test('two older minors of Kubernetes and a small program are too much for the whole, a minor alone is not', () => {
  expect(buildMinutes(['kubernetes-1.34', 'kubernetes-1.29', 'kine'])).toBeGreaterThan(mostBuildMinutes);
  expect(buildMinutes(['kubernetes-1.34', 'kine'])).toBeLessThanOrEqual(mostBuildMinutes);
  expect(buildMinutes([])).toBe(0);
});
