import { uncopiedPrefixes } from '../tenancy-data.ts';

/** Keys from `start` up to, not including, `end`, ordered by their bytes. */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

/**
 * Exactly the keys that begin with the bytes of `prefix`: the end is the prefix with its last byte that is not 0xff
 * incremented and what follows cut off, as etcd's clients compute it. Throws `RangeError` when no key bounds the prefix
 * from above.
 */
export function prefixRange(prefix: Buffer): KeyRange {
  for (let at = prefix.length - 1; at >= 0; at -= 1) {
    const byte = prefix[at] ?? 0xff;
    if (byte < 0xff) return { start: prefix, end: Buffer.from([...prefix.subarray(0, at), byte + 1]) };
  }
  throw new RangeError('a prefix of nothing but 0xff bytes has no end');
}

/** A tenancy's keys that are no part of its data. */
export function uncopiedRanges(schema: string): readonly KeyRange[] {
  return uncopiedPrefixes.map((prefix) => prefixRange(Buffer.from(`/${schema}/${prefix}`)));
}

/** A tenancy's keys: from `/<schema>/` up to `/<schema>0`. */
export function tenancyRange(schema: string): KeyRange {
  return prefixRange(Buffer.from(`/${schema}/`));
}
