import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeEntry, encodeEntry } from './kine-entry.ts';
import { CorruptValueError } from './s2-block.ts';
import { encodeStream } from './s2-stream.ts';

const written = (envelope: unknown): Uint8Array => encodeStream(Buffer.from(JSON.stringify(envelope)));

describe('An entry of a bucket', () => {
  test('is read as it was written', () => {
    const numbers = fc.maxSafeNat();
    const entries = fc.record({
      ...{ key: fc.string(), value: fc.uint8Array({ maxLength: 300 }) },
      ...{ lease: numbers, createRevision: numbers, prevRevision: numbers },
      is: fc.constantFrom('created', 'updated', 'deleted'),
    });
    fc.assert(
      fc.property(entries, (one) => {
        expect(decodeEntry(encodeEntry(one))).toEqual({ ...one, value: Buffer.from(one.value) });
      }),
    );
  });

  test('has defaults for what kine leaves out', () => {
    expect(decodeEntry(written({ KV: { Key: 'a', Value: null } }))).toEqual({
      ...{ key: 'a', value: Buffer.alloc(0), lease: 0, createRevision: 0, prevRevision: 0, is: 'updated' },
    });
  });

  test.each([
    ['no key', {}],
    ['null for a key', { KV: null }],
    ['a list', []],
    ['a number as its key', { KV: { Key: 1 } }],
    ['a number as its value', { KV: { Key: 'a', Value: 7 } }],
    ['an object as its value', { KV: { Key: 'a', Value: { length: 1 } } }],
    ['a text as its lease', { KV: { Key: 'a', Lease: '60' } }],
    ['a lease that is no whole number', { KV: { Key: 'a', Lease: 0.5 } }],
    ['a list as its revision', { KV: { Key: 'a', CreateRevision: [1] } }],
    ['a revision beyond the precise numbers', { KV: { Key: 'a' }, PrevRevision: 2 ** 60 }],
    ['a text instead of yes or no', { KV: { Key: 'a' }, Delete: 'yes' }],
  ])('with %s is damaged', (_what, envelope) => {
    expect(() => decodeEntry(written(envelope))).toThrow(CorruptValueError);
  });

  test('that is nested as deep as no object is damaged', () => {
    const deep = Buffer.from(`${'['.repeat(1000)}${']'.repeat(1000)}`);
    expect(() => decodeEntry(encodeStream(deep))).toThrow(CorruptValueError);
  });
});
