import { describe, expect, test } from '@jest/globals';

import type { Manifest } from '../../api/meta.ts';
import { compareRenderings } from './generated-parts.ts';

const secret = (data: unknown): readonly Manifest[] => [
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'ca', namespace: 'kube-system' }, data },
];
const digestOf = (first: unknown, second: unknown): string => compareRenderings(secret(first), secret(second)).digest;

describe('The random part of a chart', () => {
  test.each([
    ['texts', 'a', 'bc'],
    ['numbers', 1, 2],
    ['a text and nothing', 'a', null],
    ['nothing and fields', null, { a: 1 }],
    ['fields and a list', { a: 1 }, [1]],
    ['lists of other lengths', [1], [1, 2]],
  ])('may be %s, and is no part of the digest', (_, first, second) => {
    const digest = digestOf({ key: first, fixed: 'same' }, { key: second, fixed: 'same' });
    expect(digest).toBe(digestOf({ key: 'x', fixed: 'same' }, { key: 'y', fixed: 'same' }));
    expect(digest).not.toBe(digestOf({ key: 'x', fixed: 'other' }, { key: 'y', fixed: 'other' }));
  });

  test('has the same digest, whichever of the two renderings has an additional field', () => {
    const [without, withKey] = [{ fixed: 'same' }, { key: 'a', fixed: 'same' }];
    expect(digestOf(without, withKey)).toBe(digestOf(withKey, without));
  });
});
