import { describe, expect, test } from '@jest/globals';
import { kinds } from '../api/core/kinds.ts';
import type { Draft, Manifest, ObjectMeta, Resource, StoredMeta } from '../api/meta.ts';
import { identityOf } from '../runtime/cache/object-id.ts';
import { Expectations } from './expectations.ts';
import type { Observation } from './expectations.ts';

const map: Manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } };
const other: Manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', namespace: 'n' } };
const deployment: Manifest = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a', namespace: 'n', labels: { ours: 'dns' } },
};
const kindOf = ({ kind }: Draft) => (kind === 'Deployment' ? kinds.Deployment : kinds.ConfigMap);
const answered = (manifest: Manifest, metadata: Omit<StoredMeta, 'name'>): Resource => ({
  ...manifest,
  metadata: { ...manifest.metadata, ...metadata },
});
const seen = (manifest: Manifest, metadata: ObjectMeta, isGone = false): Observation => ({
  identity: identityOf(manifest),
  isGone,
  metadata: { ...manifest.metadata, ...metadata },
});

/** Component `dns` was applied: a ConfigMap at version 10, and a Deployment of generation 2 at version 20. */
function applied(createOnly: readonly Manifest[] = []): Expectations {
  const expectations = new Expectations();
  expectations.set({
    component: 'dns',
    manifests: [map, deployment],
    applied: [
      answered(map, { uid: 'map', resourceVersion: '10' }),
      answered(deployment, { uid: 'deployment', resourceVersion: '20', generation: 2 }),
    ],
    createOnly,
    kindOf,
  });
  return expectations;
}

describe('An observed version of an applied object', () => {
  test('is our own write up to the version that the API server returned, and drift after it', () => {
    const expectations = applied();
    expect(expectations.evaluate(seen(map, { uid: 'map', resourceVersion: '9' }))).toBeUndefined();
    expect(expectations.evaluate(seen(map, { uid: 'map', resourceVersion: '10' }))).toBeUndefined();
    expect(expectations.evaluate(seen(map, { uid: 'map', resourceVersion: '11' }))).toBe('dns');
    expect(expectations.evaluate(seen(other, { resourceVersion: '11' }))).toBeUndefined();
  });

  test('is drift if the object is gone, unless another object with its name was deleted', () => {
    const expectations = applied();
    expect(expectations.evaluate(seen(map, { uid: 'map', resourceVersion: '11' }, true))).toBe('dns');
    expect(expectations.evaluate({ ...seen(map, {}, true), metadata: { resourceVersion: '11' } })).toBe('dns');
    expect(expectations.evaluate(seen(map, { uid: 'before', resourceVersion: '11' }, true))).toBeUndefined();
  });

  test('is only a status update while generation, labels and the object stay the same', () => {
    const expectations = applied();
    const now = { uid: 'deployment', resourceVersion: '21', generation: 2 };
    expect(expectations.evaluate(seen(deployment, now))).toBeUndefined();
    expect(expectations.evaluate(seen(deployment, { ...now, generation: 3 }))).toBe('dns');
    expect(expectations.evaluate(seen(deployment, { ...now, uid: 'created again' }))).toBe('dns');
    expect(expectations.evaluate(seen(deployment, { ...now, labels: {} }))).toBe('dns');
  });
});

describe('An object that a list does not contain', () => {
  test('is missing if it was applied and is of that kind', () => {
    const expectations = applied();
    expect(expectations.missing(kinds.ConfigMap, new Set())).toEqual([identityOf(map)]);
    expect(expectations.missing(kinds.ConfigMap, new Set([identityOf(map)]))).toEqual([]);
  });

  test('is missing of the administrators’ objects only once it was seen', () => {
    const expectations = applied([other]);
    expect(expectations.missing(kinds.ConfigMap, new Set())).toEqual([identityOf(map)]);
    expect(expectations.notice(seen(other, { resourceVersion: '30' }))).toBe(false);
    expect(expectations.missing(kinds.ConfigMap, new Set())).toEqual([identityOf(map), identityOf(other)]);
    expect(expectations.notice(seen(other, { resourceVersion: '31' }, true))).toBe(true);
    expect(expectations.missing(kinds.ConfigMap, new Set())).toEqual([identityOf(map)]);
  });

  test('is still known as the administrators’ when the component is applied again', () => {
    const expectations = applied([other]);
    expectations.notice(seen(other, { resourceVersion: '30' }));
    expectations.set({ component: 'dns', manifests: [], applied: [], createOnly: [other], kindOf });
    expect(expectations.missing(kinds.ConfigMap, new Set())).toEqual([identityOf(other)]);
  });
});

test('newest returns the version of the last write of a kind, in any order', () => {
  for (const [first, second] of [
    ['9', '10'],
    ['10', '9'],
  ] as const) {
    const expectations = new Expectations();
    const answers = [
      answered(map, { uid: 'map', resourceVersion: first }),
      answered(other, { uid: 'other', resourceVersion: second }),
    ];
    expectations.set({ component: 'dns', manifests: [map, other], applied: answers, createOnly: [], kindOf });
    expect(expectations.newest(kinds.ConfigMap)).toBe('10');
    expect(expectations.newest(kinds.Deployment)).toBeUndefined();
  }
  expect(applied([other]).newest(kinds.ConfigMap)).toBe('10');
});
