import { describe, expect, test } from '@jest/globals';
import { nkeys } from '@nats-io/transport-node';
import fc from 'fast-check';
import { derivedNkey, nkeyOfBytes, nkeyOfSeed, publicNkey } from './nkey.ts';
import type { NkeyKind } from './nkey.ts';

const kinds: readonly NkeyKind[] = ['operator', 'account', 'user'];
const raw = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('nkeys', () => {
  test('equal those of the NATS tools: seeds, public keys and signatures', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), raw, fc.string({ maxLength: 20 }), (kind, bytes, text) => {
        const ours = nkeyOfBytes(kind, bytes);
        const theirs = nkeys.fromSeed(Buffer.from(ours.seed));
        expect(theirs.getPublicKey()).toBe(ours.publicKey);
        expect(Buffer.from(theirs.getSeed()).toString()).toBe(ours.seed);
        expect(theirs.verify(Buffer.from(text), ours.sign(text))).toBe(true);
        expect(nkeyOfSeed(kind, ` ${ours.seed}\n`)?.publicKey).toBe(ours.publicKey);
      }),
      { numRuns: 25 },
    );
  });

  test('are recognized by their kind', () => {
    expect(kinds.map((kind) => nkeyOfBytes(kind, Buffer.alloc(32)).seed.slice(0, 2))).toEqual(['SO', 'SA', 'SU']);
    expect(kinds.map((kind) => publicNkey(kind, Buffer.alloc(32))[0])).toEqual(['O', 'A', 'U']);
  });

  test('are not read from damaged seeds, public keys or seeds of another kind', () => {
    const { seed, publicKey } = nkeyOfBytes('operator', Buffer.alloc(32, 7));
    const damaged = `${seed.slice(0, 10)}${seed[10] === 'A' ? 'B' : 'A'}${seed.slice(11)}`;
    for (const text of ['', 'x', publicKey, damaged, seed.slice(1), seed.toLowerCase(), `${seed}A`]) {
      expect(nkeyOfSeed('operator', text)).toBeUndefined();
    }
    expect(nkeyOfSeed('account', seed)).toBeUndefined();
    expect(nkeyOfSeed('user', seed)).toBeUndefined();
  });

  test('differ by secret, kind and every part of the purpose if they are derived', () => {
    const purpose = fc.array(fc.string({ maxLength: 3 }), { minLength: 1, maxLength: 3 });
    const secret = nkeyOfBytes('operator', Buffer.alloc(32, 1));
    fc.assert(
      fc.property(purpose, purpose, (left, right) => {
        const same = JSON.stringify(left) === JSON.stringify(right);
        expect(derivedNkey('user', secret, left).seed === derivedNkey('user', secret, right).seed).toBe(same);
      }),
    );
    const other = nkeyOfBytes('operator', Buffer.alloc(32, 2));
    expect(derivedNkey('user', other, ['a']).seed).not.toBe(derivedNkey('user', secret, ['a']).seed);
    expect(derivedNkey('account', secret, ['a']).raw).not.toEqual(derivedNkey('user', secret, ['a']).raw);
  });
});
