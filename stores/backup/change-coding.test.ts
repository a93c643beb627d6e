import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RepositoryError } from './backup-repository.ts';
import { decodeChanges, decodeEntries, encodeChanges } from './change-coding.ts';
import type { StoredChange } from '../tenancy-data.ts';

const change = fc.oneof(
  fc.record({ is: fc.constant('deleted' as const), key: fc.string({ unit: 'binary' }) }),
  fc.record({
    is: fc.constant('put' as const),
    entry: fc.oneof(
      fc.record({ key: fc.string({ unit: 'binary' }), value: fc.uint8Array() }),
      fc.record({ key: fc.string(), value: fc.uint8Array(), ttlMs: fc.nat(2 ** 31) }),
    ),
  }),
);

/** Buffers and arrays of bytes as text. */
const plain = (changes: readonly StoredChange[]): unknown =>
  changes.map((one) =>
    one.is === 'put' ? { ...one.entry, value: Buffer.from(one.entry.value).toString('hex') } : one,
  );

describe('the coding of changes', () => {
  test('gives back any changes', () => {
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        expect(plain(decodeChanges(encodeChanges(changes)))).toEqual(plain(changes));
      }),
    );
  });

  test('refuses what is cut off, or gives the changes before the cut', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1 }), fc.double({ min: 0, max: 1, noNaN: true }), (changes, part) => {
        const bytes = encodeChanges(changes);
        const cut = bytes.subarray(0, Math.floor(part * (bytes.length - 1)));
        let read: readonly StoredChange[];
        try {
          read = decodeChanges(cut);
        } catch (error) {
          expect(error).toBeInstanceOf(RepositoryError);
          return;
        }
        expect(plain(read)).toEqual(plain(changes.slice(0, read.length)));
        expect(read.length).toBeLessThan(changes.length);
      }),
    );
  });

  test('refuses any bytes that are no changes, and never fails otherwise', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        try {
          decodeChanges(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(RepositoryError);
        }
      }),
    );
    expect(() => decodeChanges(Buffer.of(7, 0, 0, 0, 0))).toThrow('unknown kind 7');
  });

  test('refuses a deletion where there are only entries', () => {
    expect(() => decodeEntries(encodeChanges([{ is: 'deleted', key: 'a' }]))).toThrow('a deletion');
  });
});
