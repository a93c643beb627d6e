import { describe, expect, test } from '@jest/globals';
import { kindIn, preferredVersion } from './served-kind.ts';

const list = (...resources: readonly unknown[]): string => JSON.stringify({ resources });

describe('The kind of a resource that a tenant serves', () => {
  test('is read from its list of resources', () => {
    const body = list({ name: 'mice/status', kind: 'Mouse' }, { name: 'mice', kind: 'Mouse', namespaced: true });
    expect(kindIn(body, 'mice.example.com', 'v1')).toEqual({
      ...{ group: 'example.com', version: 'v1', plural: 'mice', kind: 'Mouse', namespaced: true },
    });
    expect(kindIn(list({ name: 'secrets', kind: 'Secret', namespaced: true }), 'secrets', 'v1')).toMatchObject({
      ...{ group: '', kind: 'Secret' },
    });
  });

  test.each([
    ['not served', list({ name: 'rats', kind: 'Rat' })],
    ['without a name for its kind', list({ name: 'mice' })],
    ['with a kind that is an object', list({ name: 'mice', kind: { toString: 1, valueOf: 1 } })],
    ['with a kind that is no name', list({ name: 'mice', kind: 'Mouse\n' })],
    ['in a list of nothing', list(null, 7)],
    ['in an answer that is no list', '{"resources":{"name":"mice"}}'],
    ['in an answer that is no JSON', 'not found'],
  ])('is unknown for one %s', (_what, body) => {
    expect(kindIn(body, 'mice.example.com', 'v1')).toBeUndefined();
  });

  test('is asked for in the preferred version of its group', () => {
    expect(preferredVersion('{"preferredVersion":{"version":"v1beta1"}}')).toBe('v1beta1');
    for (const version of ['../v1', 'v1/pods', '', 7])
      expect(preferredVersion(JSON.stringify({ preferredVersion: { version } }))).toBeUndefined();
  });
});
