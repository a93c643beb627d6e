import { createHash } from 'node:crypto';
import type { StoredEntry } from '../tenancy-data.ts';

const modulus = 1n << 256n;

/**
 * A checksum over keys with their values that does not depend on their order: the sum of the entries' SHA-256 modulo 2^256.
 * Keys with a time to live are left out: they end on their own, a little earlier here than there.
 */
export class ContentFingerprint {
  #sum = 0n;
  #keys = 0;
  #bytes = 0;

  /** Takes one entry in; each key once. */
  add({ key, value, ttlMs }: StoredEntry): void {
    this.#keys += 1;
    this.#bytes += value.length;
    if (ttlMs !== undefined) return;
    this.#sum = (this.#sum + BigInt(`0x${entryDigest(key, value)}`)) % modulus;
  }

  /** All keys that were taken in. */
  get keys(): number {
    return this.#keys;
  }

  /** Bytes of their values. */
  get bytes(): number {
    return this.#bytes;
  }

  /** 64 hexadecimal digits. */
  get hex(): string {
    return this.#sum.toString(16).padStart(64, '0');
  }
}

/** SHA-256 of a key and its value, with the key's length in front, so that no other pair reads the same. In hexadecimal. */
export function entryDigest(key: string, value: Uint8Array): string {
  const name = Buffer.from(key);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(name.length);
  return createHash('sha256').update(length).update(name).update(value).digest('hex');
}
