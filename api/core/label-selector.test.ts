import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { labelTest } from '../../testing/fake/selectors.ts';
import { isSelected, requirementProblem, selectorText } from './label-selector.ts';

const key = fc.constantFrom('tier', 'zone', 'a.b/c');
const value = fc.constantFrom('gold', 'silver', 'x');
const values = fc.uniqueArray(value, { minLength: 1 });
const requirement = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('In', 'NotIn'), values }),
  fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);
const selector = fc.record(
  { matchLabels: fc.dictionary(key, value), matchExpressions: fc.array(requirement, { maxLength: 3 }) },
  { requiredKeys: [] },
);
const labels = fc.dictionary(key, value);

describe('a label selector', () => {
  test('selects what its text form selects in the API server', () => {
    fc.assert(
      fc.property(selector, labels, (one, of) => {
        expect(isSelected(of, one)).toBe(labelTest(selectorText(one))(of));
      }),
    );
  });

  test('selects everything when it is empty', () => {
    expect(isSelected({}, {})).toBe(true);
    expect(isSelected({ a: 'b' }, { matchLabels: {}, matchExpressions: [] })).toBe(true);
  });

  test('treats no inherited property as a label', () => {
    expect(isSelected({}, { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] })).toBe(false);
  });

  test.each([
    [{ key: 'a', operator: 'In' }, 'no values'],
    [{ key: 'a', operator: 'NotIn', values: [] }, 'no values'],
    [{ key: 'a', operator: 'Exists', values: ['b'] }, 'but has values'],
    [{ key: 'a', operator: 'DoesNotExist', values: ['b'] }, 'but has values'],
    [{ key: 'a', operator: 'Gt', values: ['1'] }, 'not one of In'],
  ])('is invalid with %j and selects nothing', (wrong, words) => {
    expect(requirementProblem(wrong)).toContain(words);
    expect(isSelected({ a: 'b' }, { matchExpressions: [wrong] })).toBe(false);
    expect(isSelected({}, { matchExpressions: [wrong] })).toBe(false);
  });
});
