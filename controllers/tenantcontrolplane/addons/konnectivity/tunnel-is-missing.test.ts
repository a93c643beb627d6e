import { describe, expect, test } from '@jest/globals';
import { agentNames } from './tunnel-is-missing.ts';

const page = (...items: readonly unknown[]): string => JSON.stringify({ items });
const pod = (name: unknown): object => ({ metadata: { name } });

describe('The agents in the answer of a tenant', () => {
  test('are the first ones with a name that a path can hold', () => {
    expect(agentNames(page(pod('a'), pod('../secrets'), pod('b.1'), pod('c')))).toEqual(['a', 'b.1']);
    expect(agentNames(page(null, 7, { metadata: null }, pod('late')))).toEqual([]);
    expect(agentNames(page(pod(['a']), pod('')))).toEqual([]);
  });

  test('are none in what is no list', () => {
    for (const answer of ['null', '7', '{}', '{"items":null}', '{"items":{"length":1}}'])
      expect(agentNames(answer)).toEqual([]);
    expect(() => agentNames('<html>')).toThrow(SyntaxError);
  });
});
