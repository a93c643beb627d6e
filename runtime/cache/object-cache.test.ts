import { expect, test } from '@jest/globals';
import type { Resource } from '../../api/meta.ts';
import { ObjectCache } from './object-cache.ts';

const stored = (metadata: Resource['metadata']): ObjectCache<Resource> => {
  const cache = new ObjectCache<Resource>();
  cache.put({ apiVersion: 'v1', kind: 'Node', metadata });
  return cache;
};

test('an object without a namespace has an empty one', () => {
  expect(stored({ name: 'a' }).get({ namespace: '', name: 'a' })).toBeDefined();
  expect(stored({ namespace: '', name: 'a' }).get({ name: 'a' })).toBeDefined();
  expect(stored({ namespace: 'n', name: 'a' }).get({ name: 'a' })).toBeUndefined();
});

test('an object without a name has an empty one', () => {
  expect(stored({ namespace: 'n' }).get({ namespace: 'n', name: '' })).toBeDefined();
  expect(stored({ namespace: 'n', name: '' }).has({ namespace: 'n' })).toBe(true);
});
