import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mergeApplied } from './merge-applied.ts';

const fields = fc.dictionary(
  fc.constantFrom('a', 'b', 'c'),
  fc.oneof(fc.integer(), fc.dictionary(fc.constantFrom('x', 'y'), fc.integer(), { minKeys: 1 })),
);

describe('An apply', () => {
  test('wins over what is there, and leaves the fields of others', () => {
    const live = { spec: { replicas: 1, paused: true }, metadata: { labels: { others: 'x', ours: '1' } } };
    const next = { spec: { replicas: 2 }, metadata: { labels: { ours: '2' } } };
    expect(mergeApplied(live, undefined, next)).toEqual({
      spec: { replicas: 2, paused: true },
      metadata: { labels: { others: 'x', ours: '2' } },
    });
  });

  test('removes what it applied before and no longer does', () => {
    const live = { metadata: { labels: { others: 'x', ours: '1' } }, spec: { template: { nodeSelector: { a: 'b' } } } };
    const previous = { metadata: { labels: { ours: '1' } }, spec: { template: { nodeSelector: { a: 'b' } } } };
    expect(mergeApplied(live, previous, { metadata: { labels: {} }, spec: {} })).toEqual({
      metadata: { labels: { others: 'x' } },
      spec: {},
    });
  });

  test('merges containers by name, keeps defaults and those of others, and removes its own', () => {
    const live = {
      containers: [
        { name: 'api', image: 'a:1', terminationMessagePath: '/dev/log' },
        { name: 'old', image: 'o:1' },
        { name: 'injected', image: 'i:1' },
      ],
    };
    const previous = {
      containers: [
        { name: 'api', image: 'a:1' },
        { name: 'old', image: 'o:1' },
      ],
    };
    const next = {
      containers: [
        { name: 'new', image: 'n:1' },
        { name: 'api', image: 'a:2' },
      ],
    };
    expect(mergeApplied(live, previous, next)).toEqual({
      containers: [
        { name: 'new', image: 'n:1' },
        { name: 'api', image: 'a:2', terminationMessagePath: '/dev/log' },
        { name: 'injected', image: 'i:1' },
      ],
    });
  });

  test('replaces lists without keys, and selectors, as a whole', () => {
    const live = { selector: { a: 'b' }, args: ['--x', '--y'], tolerations: [{ key: 'a' }] };
    const next = { selector: { c: 'd' }, args: ['--z'], tolerations: [{ key: 'b' }] };
    expect(mergeApplied(live, live, next)).toEqual(next);
  });

  test('has nothing left to do when it is repeated', () => {
    fc.assert(
      fc.property(fields, fields, fields, (live, previous, next) => {
        const once = mergeApplied(live, previous, next);
        expect(mergeApplied(once, next, next)).toEqual(once);
        expect(once).toMatchObject(next);
      }),
    );
  });
});
