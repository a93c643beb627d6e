import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeBase58, encodeBase58 } from '../base58.ts';
import { entrySubject, entrySubjects, keyOfSubject, kineSubjects } from './kine-keys.ts';

const part = fc
  .string({ unit: 'grapheme', maxLength: 12 })
  .filter((text) => !text.includes('/') && text.isWellFormed());

describe('The names of keys in a bucket', () => {
  test('equal those of kine', () => {
    // Vectors of kine's codec_test.go.
    expect(['a', '*', '/'].map((text) => encodeBase58(Buffer.from(text)))).toEqual(['2g', 'j', 'p']);
    const registry = encodeBase58(Buffer.from('registry'));
    expect(entrySubject('b', 'a/*/a/')).toBe(`$KV.b.${registry}.2g.j.2g.p`);
    expect(entrySubjects('b')).toBe(`$KV.b.${registry}.>`);
    expect(kineSubjects('b')[0]).toBe(`$KV.b.${registry}.${encodeBase58(Buffer.from('health'))}`);
  });

  test('are decoded to the original keys, with one token for each part', () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const key = parts.join('/');
        const subject = entrySubject('b', key);
        expect(subject).toMatch(/^\$KV\.b(?:\.[1-9A-HJ-NP-Za-km-z]+)+$/);
        expect(keyOfSubject('b', subject)).toBe(key === 'health' ? undefined : key);
      }),
    );
  });

  test('are not decoded if they do not belong to the API server', () => {
    for (const subject of [
      ...kineSubjects('b'),
      '$KV.b.2g',
      '$KV.c.2g',
      entrySubject('c', 'a'),
      `${entrySubject('b', 'a')}.0`,
    ]) {
      expect(keyOfSubject('b', subject)).toBeUndefined();
    }
  });

  test('preserve bytes that begin with zeros', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), fc.nat({ max: 3 }), (bytes, zeros) => {
        const all = Buffer.concat([Buffer.alloc(zeros), bytes]);
        expect(Buffer.from(decodeBase58(encodeBase58(all)) ?? [])).toEqual(all);
      }),
    );
    expect(decodeBase58('0')).toBeUndefined();
  });
});
