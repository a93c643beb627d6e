import { expect, test } from '@jest/globals';
import { dashedVersion, dottedVersion, nextVersion, stableNumber } from './stack-version.ts';

test.each([
  ['v1', 'v1', 'v1', 1],
  ['v0-sha.rwvgrna', 'v0-sha.rwvgrna', 'v0-sha-rwvgrna', undefined],
  ['v0-sha-rwvgrna', 'v0-sha.rwvgrna', 'v0-sha-rwvgrna', undefined],
  ['v12', 'v12', 'v12', 12],
])('%s is a version', (text, dotted, dashed, number) => {
  expect(dottedVersion(text)).toBe(dotted);
  expect(dashedVersion(dotted)).toBe(dashed);
  expect(stableNumber(text)).toBe(number);
});

test.each(['1', 'v', 'v1.2', 'v1-sha', 'v1-a.b.c', 'latest', ''])('%j is not a version', (text) => {
  expect(dottedVersion(text)).toBeUndefined();
  expect(stableNumber(text)).toBeUndefined();
});

test('Versions are compared as numbers', () => {
  expect(nextVersion('v9')).toBe('v10');
  expect(() => nextVersion('v0-sha.abc')).toThrow('has no successor');
});
