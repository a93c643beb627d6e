import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { portionOf } from './portion.ts';

const mebibyte = 2 ** 20;

/** Looks, with so many revisions and MiB after each other. */
const looks = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 0, max: 500 })), { minLength: 2, maxLength: 8 })
  .map((steps) => {
    let [revision, grown] = [0, 0];
    return steps.map(([revisions, mebibytes], at) => {
      [revision, grown] = [revision + revisions, grown + mebibytes * mebibyte];
      return { revision: BigInt(revision), at, grown };
    });
  });

test('a portion is what 64 MiB of growth were, or all that is left', () => {
  const seen = [0, 100, 200].map((revision, at) => ({ revision: BigInt(revision), at, grown: at * 100 * mebibyte }));
  const [since, , target] = seen;
  if (since === undefined || target === undefined) throw new Error('there are three');
  const few = { since, target, liveBytes: 0, growing: 0 };
  expect(portionOf(seen, few)).toMatchObject({ revision: 64n, grown: 64 * mebibyte });
  expect(portionOf(seen, { ...few, liveBytes: 800 * mebibyte })).toMatchObject({ revision: 100n });
  expect(portionOf(seen, { ...few, growing: 100 * mebibyte })).toMatchObject({ revision: 150n });
  expect(portionOf(seen, { ...few, growing: 500 * mebibyte })).toBe(target);
  expect(portionOf(seen, { ...few, liveBytes: 1600 * mebibyte })).toBe(target);
});

test('portions end at the target, each after the one before', () => {
  fc.assert(
    fc.property(looks, (seen) => {
      const [first] = seen;
      const target = seen.at(-1);
      if (first === undefined || target === undefined) return;
      let since = first;
      let portions = 0;
      let isInOrder = true;
      while (since.revision < target.revision && isInOrder) {
        const next = portionOf(seen, { since, target, liveBytes: 0, growing: 0 });
        isInOrder = next.revision > since.revision && next.revision <= target.revision && next.grown >= since.grown;
        portions += 1;
        since = next;
      }
      expect(isInOrder).toBe(true);
      // Each has 64 MiB, or is a single revision.
      expect(portions).toBeLessThanOrEqual((target.grown - first.grown) / (64 * mebibyte) + 8000);
    }),
    { numRuns: 100 },
  );
});
