import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { asKamaji, asSteward } from './kamaji-names.ts';

test.each([
  ['kamaji.clastix.io/name', 'steward.butlerlabs.dev/name'],
  ['component.kamaji.clastix.io/ca', 'component.steward.butlerlabs.dev/ca'],
  ['finalizer.kamaji.clastix.io', 'finalizer.steward.butlerlabs.dev'],
  ['finalizer.kamaji.clastix.io/soot', 'finalizer.steward.butlerlabs.dev/soot'],
  ['notkamaji.clastix.io/name', 'notkamaji.clastix.io/name'],
  ['example.com/kamaji.clastix.io', 'example.com/kamaji.clastix.io'],
  ['team', 'team'],
])('%s becomes %s', (key, expected) => {
  expect(asSteward(key)).toBe(expected);
});

test('the way back restores every key of Kamaji, and changes no other', () => {
  const part = fc.stringMatching(/^[a-z]{1,8}$/);
  const ofKamaji = fc
    .tuple(fc.option(part), part)
    .map(([prefix, name]) => `${prefix === null ? '' : `${prefix}.`}kamaji.clastix.io/${name}`);
  const other = fc.tuple(part, part).map(([domain, name]) => `${domain}.example.com/${name}`);
  fc.assert(
    fc.property(fc.oneof(ofKamaji, other), (key) => {
      expect(asKamaji(asSteward(key))).toBe(key);
      expect(asSteward(asSteward(key))).toBe(asSteward(key));
    }),
  );
});
