import { expect, test } from '@jest/globals';
import { storedMeta } from '../../api/as-stored.ts';
import type { ObjectMeta, Resource } from '../../api/meta.ts';
import { ObjectCache } from './object-cache.ts';

const stored = (metadata: ObjectMeta): ObjectCache<Resource> => {
  const cache = new ObjectCache<Resource>();
  cache.put({ apiVersion: 'v1', kind: 'Node', metadata: storedMeta(metadata) });
  return cache;
};

test('an object without a namespace has an empty one', () => {
  expect(stored({ name: 'a' }).get({ namespace: '', name: 'a' })).toBeDefined();
  expect(stored({ namespace: '', name: 'a' }).get({ name: 'a' })).toBeDefined();
  expect(stored({ namespace: 'n', name: 'a' }).get({ name: 'a' })).toBeUndefined();
});
