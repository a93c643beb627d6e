import type { StoredChange, StoredEntry } from '../tenancy-data.ts';
import { RepositoryError } from './backup-repository.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Kinds of a change; they are part of the format. */
const deleted = 0;
const lasting = 1;
const expiring = 2;

/**
 * Changes as bytes. Each is: one byte for its kind (0 deleted, 1 put, 2 put with a time to live), the length of the key and the key in
 * UTF-8, then, unless deleted, the length of the value and the value, and the time to live in milliseconds. Lengths and times are
 * unsigned integers of 32 bits, big-endian.
 */
export function encodeChanges(changes: readonly StoredChange[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const change of changes) {
    if (change.is === 'deleted') parts.push(Buffer.of(deleted), ...withLength(Buffer.from(change.key)));
    else {
      const { key, value, ttlMs } = change.entry;
      parts.push(Buffer.of(ttlMs === undefined ? lasting : expiring), ...withLength(Buffer.from(key)));
      parts.push(...withLength(value));
      if (ttlMs !== undefined) parts.push(number(Math.min(Math.max(Math.round(ttlMs), 0), 2 ** 32 - 1)));
    }
  }
  return Buffer.concat(parts);
}

/** What `encodeChanges` wrote. Throws `RepositoryError` for anything else. */
export function decodeChanges(bytes: Uint8Array): readonly StoredChange[] {
  const reader = new Reader(bytes);
  const changes: StoredChange[] = [];
  while (!reader.isAtEnd) {
    const kind = reader.byte();
    const key = reader.text();
    if (kind === deleted) changes.push({ is: 'deleted', key });
    else if (kind === lasting) changes.push({ is: 'put', entry: { key, value: reader.withLength() } });
    else if (kind === expiring) {
      changes.push({ is: 'put', entry: { key, value: reader.withLength(), ttlMs: reader.number() } });
    } else throw new RepositoryError(`a change in the backup is of the unknown kind ${kind}`);
  }
  return changes;
}

/** Entries in the same format. */
export function encodeEntries(entries: readonly StoredEntry[]): Uint8Array {
  return encodeChanges(entries.map((entry) => ({ is: 'put', entry })));
}

/** What `encodeEntries` wrote. Throws `RepositoryError` for anything else. */
export function decodeEntries(bytes: Uint8Array): readonly StoredEntry[] {
  return decodeChanges(bytes).map((change) => {
    if (change.is === 'put') return change.entry;
    throw new RepositoryError('a chunk of the backup has a deletion in it');
  });
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const withLength = (bytes: Uint8Array): readonly [Buffer, Uint8Array] => [number(bytes.length), bytes];

/** Reads forward, and never beyond the end. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  byte(): number {
    return this.#take(1).readUInt8();
  }

  number(): number {
    return this.#take(4).readUInt32BE();
  }

  withLength(): Uint8Array {
    return this.#take(this.number());
  }

  /** A key that is not UTF-8 would become another one. */
  text(): string {
    try {
      return utf8.decode(this.withLength());
    } catch (cause) {
      if (cause instanceof RepositoryError) throw cause;
      throw new RepositoryError(
        'a file of the backup is damaged: it has a key that is not UTF-8; restore an earlier backup or moment',
        { cause },
      );
    }
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RepositoryError('a file of the backup ends too early');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
