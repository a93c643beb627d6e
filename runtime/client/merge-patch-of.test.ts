import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mergePatch } from '../../testing/fake/merge-patch.ts';
import { mergePatchOf, sameJson } from './merge-patch-of.ts';

const leaf = fc.oneof(fc.constantFrom(0, false, '', 'x', 1), fc.constant({}), fc.constant([]));
const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  node: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('node'), { maxLength: 3 }), tie('fields')),
  fields: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__x'), tie('node'), { maxKeys: 3 }),
})).fields;

test('a patch turns the old status into the new one, and there is none when nothing changed', () => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      const patch = mergePatchOf(before, after);
      expect(patch === undefined ? before : mergePatch(before, patch)).toEqual(after);
      expect(patch === undefined).toBe(sameJson(before, after));
      expect(mergePatchOf(after, structuredClone(after))).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});

test('a patch contains only differences: removed fields as null, lists whole, zeros as they are', () => {
  const before = { ready: true, count: 1, list: [1, 2], gone: { deep: 1 }, same: { a: 1 } };
  const after = { ready: true, count: 0, list: [1], same: { a: 1, b: '' }, empty: {}, absent: undefined };
  expect(mergePatchOf(before, after)).toEqual({ count: 0, list: [1], gone: null, same: { b: '' }, empty: {} });
});

test('a first status has no nulls in it', () => {
  expect(mergePatchOf(undefined, { a: null, b: { c: undefined, d: 0 } })).toEqual({ b: { d: 0 } });
});

test.each(['constructor', 'toString', 'hasOwnProperty'])('a field named %s is a field like any other', (name) => {
  expect(mergePatchOf({ [name]: 'x' }, {})).toEqual({ [name]: null });
  expect(mergePatchOf({}, { [name]: 'x' })).toEqual({ [name]: 'x' });
  expect(sameJson({ [name]: 'x' }, {})).toBe(false);
});
