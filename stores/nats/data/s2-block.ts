/** Thrown for bytes that are not what kine writes. */
export class CorruptValueError extends Error {
  override readonly name = 'CorruptValueError';
}

const corrupt = (): never => {
  throw new CorruptValueError('a compressed value is damaged');
};

/** No writer of S2 makes longer blocks, and no reader has to take them. */
const longestDecoded = 4 * 1024 * 1024;

/** Reads little-endian numbers and bytes, and throws beyond the end. */
class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    const byte = this.#bytes[this.#at] ?? corrupt();
    this.#at += 1;
    return byte;
  }

  number(bytes: number): number {
    let value = 0;
    for (let index = 0, weight = 1; index < bytes; index += 1, weight *= 256) value += this.byte() * weight;
    return value;
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
    return corrupt();
  }

  take(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) corrupt();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

/** Length of a repeat of S2, which Snappy does not have: the last offset stays. */
function repeatLength(reader: Reader, code: number): number {
  if (code < 5) return code + 4;
  if (code === 5) return reader.number(1) + 8;
  return code === 6 ? reader.number(2) + 4 + 256 : reader.number(3) + 4 + 65_536;
}

/**
 * Decodes a block of S2 (https://github.com/klauspost/compress/tree/master/s2#format): Snappy's with repeats. Throws
 * `CorruptValueError`.
 */
export function decodeBlock(block: Uint8Array): Uint8Array {
  const reader = new Reader(block);
  const announced = reader.varint();
  if (announced > longestDecoded) throw new CorruptValueError('a compressed value has a block of more than 4 MiB');
  const result = new Uint8Array(announced);
  let at = 0;
  let offset = 0;
  while (!reader.done) {
    const tag = reader.byte();
    const code = tag >> 2;
    let length = code + 1;
    if ((tag & 3) === 0) {
      if (code >= 60) length = reader.number(code - 59) + 1;
      if (at + length > result.length) corrupt();
      result.set(reader.take(length), at);
      at += length;
      continue;
    }
    if ((tag & 3) === 1) {
      const near = ((tag & 0xe0) << 3) | reader.byte();
      length = near === 0 ? repeatLength(reader, code & 7) : (code & 7) + 4;
      if (near !== 0) offset = near;
    } else offset = reader.number((tag & 3) === 2 ? 2 : 4);
    if (offset <= 0 || offset > at || at + length > result.length) corrupt();
    // What is copied may be part of what is made.
    for (const end = at + length; at < end; at += 1) result[at] = result[at - offset] ?? 0;
  }
  return at === result.length ? result : corrupt();
}

/** Longest block that `encodeBlock` takes: its offsets fit two bytes. */
export const longestBlock = 65_535;

const shortestHash = 8;
const longestHash = 14;

/** Bits for which a table has about one place for each byte; a larger one would only have to be cleared. */
function hashBits(length: number): number {
  return Math.min(Math.max(32 - Math.clz32(length), shortestHash), longestHash);
}

/** Collects a block. There is room for the worst case: a copy of four bytes takes three, and a literal of one takes two. */
class Writer {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(decoded: number) {
    this.#bytes = new Uint8Array(32 + decoded + Math.ceil(decoded / 6));
    for (let left = decoded; ; left = Math.floor(left / 128)) {
      this.#bytes[this.#at++] = left < 128 ? left : (left & 127) | 128;
      if (left < 128) break;
    }
  }

  literal(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const length = bytes.length - 1;
    if (length < 60) this.#bytes[this.#at++] = length << 2;
    else this.#three(61 << 2, length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  copy(offset: number, length: number): void {
    for (let left = length; left > 0; left -= 64) this.#three(((Math.min(left, 64) - 1) << 2) | 2, offset);
  }

  done(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  #three(tag: number, number: number): void {
    this.#bytes[this.#at] = tag;
    this.#bytes[this.#at + 1] = number & 255;
    this.#bytes[this.#at + 2] = number >> 8;
    this.#at += 3;
  }
}

/** Encodes a block as Snappy does, which readers of S2 take. */
export function encodeBlock(bytes: Uint8Array): Uint8Array {
  if (bytes.length > longestBlock) throw new RangeError(`a block has at most ${longestBlock} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const writer = new Writer(bytes.length);
  const bits = hashBits(bytes.length);
  const seen = new Uint16Array(1 << bits);
  let from = 0;
  let at = 1;
  // Where nothing repeats, steps become longer, as Snappy's do.
  let misses = 0;
  while (at + 4 <= bytes.length) {
    const here = view.getUint32(at, true);
    const slot = Math.imul(here, 0x1e35a7bd) >>> (32 - bits);
    const before = seen[slot] ?? 0;
    seen[slot] = at;
    if (before >= at || view.getUint32(before, true) !== here) {
      at += 1 + (misses >> 5);
      misses += 1;
      continue;
    }
    misses = 0;
    writer.literal(bytes.subarray(from, at));
    let length = 4;
    while (at + length < bytes.length && bytes[before + length] === bytes[at + length]) length += 1;
    writer.copy(at - before, length);
    at += length;
    from = at;
  }
  writer.literal(bytes.subarray(from));
  return writer.done();
}
