import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseJson } from './parse-json.ts';

describe('Untrusted JSON', () => {
  test('is parsed like by JSON.parse', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
    expect(parseJson(JSON.stringify({ a: '[\\"{'.repeat(1000) }))).toEqual({ a: '[\\"{'.repeat(1000) });
  });

  test('may be wide, but not deep', () => {
    expect(parseJson(`[${'[],'.repeat(10_000)}[]]`)).toHaveLength(10_001);
    expect(() => parseJson('['.repeat(501) + ']'.repeat(501))).toThrow('nested deeper than 500 levels');
    expect(() => parseJson('{"a":'.repeat(100_000))).toThrow('nested deeper than 500 levels');
    expect(() => parseJson('{')).toThrow(SyntaxError);
  });
});
