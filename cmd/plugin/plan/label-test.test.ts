import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { labelTest as labelTestOfFake } from '../../../testing/fake/selectors.ts';
import { labelTest } from './label-test.ts';

const key = fc.constantFrom('a', 'b', 'steward.butlerlabs.dev/name');
const requirement = fc.oneof(
  key,
  key.map((name) => `!${name}`),
  fc.tuple(key, fc.constantFrom('', 'x', 'y-1')).map(([name, value]) => `${name}=${value}`),
);
const labels = fc.dictionary(key, fc.constantFrom('', 'x', 'y-1'));

describe('A label selector', () => {
  test('selects what an API server selects', () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 3 }), labels, (requirements, given) => {
        const selector = requirements.join(',');
        expect(labelTest(selector)(given)).toBe(labelTestOfFake(selector)(given));
      }),
    );
  });

  test.each(['a in (b,c)', 'a!=b', 'a notin (b)'])('of the form %s is refused, not ignored', (selector) => {
    expect(() => labelTest(selector)).toThrow('of a form that plans do not know');
  });
});
