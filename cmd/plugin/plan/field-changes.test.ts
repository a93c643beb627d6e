import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fieldChanges } from './field-changes.ts';
import { isSameJson } from './is-same-json.ts';

describe('The changes of fields', () => {
  test('name items of lists by their key', () => {
    const pods = (image: string): object => ({ spec: { containers: [{ name: 'kube-apiserver', image }] } });
    expect(fieldChanges(pods('a:1'), pods('a:2'))).toEqual([
      { field: 'spec.containers[kube-apiserver].image', before: 'a:1', after: 'a:2' },
    ]);
  });

  test('show of a list of texts only what comes and goes', () => {
    const before = { args: ['--a=1', '--b=1'] };
    expect(fieldChanges(before, { args: ['--a=1', '--b=2', '--c'] })).toEqual([
      { field: 'args', before: ['--b=1'], after: ['--b=2', '--c'] },
    ]);
  });

  test('say what is added and what is removed', () => {
    const label = 'steward.butlerlabs.dev/name';
    expect(fieldChanges({ labels: { old: 'x' } }, { labels: { [label]: 'shop' } })).toEqual([
      { field: 'labels.old', before: 'x' },
      { field: `labels[${label}]`, after: 'shop' },
    ]);
  });

  test('never show the content of a Secret', () => {
    const secret = (key: string): object => ({
      kind: 'Secret',
      data: { 'tls.key': key },
      metadata: { labels: { a: key } },
    });
    const changes = fieldChanges(secret('b25l'), secret('dHdv'));
    expect(changes).toContainEqual({ field: 'data[tls.key]', before: '(not shown)', after: '(not shown)' });
    expect(changes).toContainEqual({ field: 'metadata.labels.a', before: 'b25l', after: 'dHdv' });
    const added = fieldChanges({ kind: 'Secret' }, { kind: 'Secret', data: { 'tls.key': 'c2VjcmV0' } });
    expect(JSON.stringify(added)).not.toContain('c2VjcmV0');
  });

  test('leave out the status and what the API server keeps', () => {
    const object = (resourceVersion: string): object => ({
      metadata: { name: 'a', resourceVersion, uid: resourceVersion, generation: Number(resourceVersion) },
      status: { at: resourceVersion },
    });
    expect(fieldChanges(object('1'), object('2'))).toEqual([]);
  });

  test('are none exactly for equal objects', () => {
    const json = fc.jsonValue({ maxDepth: 3 }).map((value) => ({ spec: JSON.parse(JSON.stringify(value)) as unknown }));
    fc.assert(
      fc.property(json, json, (one, other) => {
        expect(fieldChanges(one, structuredClone(one))).toEqual([]);
        expect(fieldChanges(one, other).length === 0).toBe(isSameJson(one, other));
      }),
    );
  });
});
