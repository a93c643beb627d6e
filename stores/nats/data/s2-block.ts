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

  number(bytes: number): number {
    let value = 0;
    for (let index = 0; index < bytes; index += 1) value += this.#next() * 2 ** (8 * index);
    return value;
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#next();
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

  #next(): number {
    const byte = this.#bytes[this.#at] ?? corrupt();
    this.#at += 1;
    return byte;
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
    const tag = reader.number(1);
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
      const near = ((tag & 0xe0) << 3) | reader.number(1);
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

const hashBits = 14;

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))];
}

/** Encodes a block as Snappy does, which readers of S2 take. */
export function encodeBlock(bytes: Uint8Array): Uint8Array {
  if (bytes.length > longestBlock) throw new RangeError(`a block has at most ${longestBlock} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const output: Uint8Array[] = [Uint8Array.from(varint(bytes.length))];
  const seen = new Uint16Array(1 << hashBits);
  let from = 0;
  const literal = (end: number): void => {
    if (end === from) return;
    const length = end - from - 1;
    output.push(Uint8Array.from(length < 60 ? [length << 2] : [61 << 2, length & 255, length >> 8]));
    output.push(bytes.subarray(from, end));
  };
  let at = 1;
  // Where nothing repeats, steps become longer, as Snappy's do.
  let misses = 0;
  while (at + 4 <= bytes.length) {
    const here = view.getUint32(at, true);
    const slot = Math.imul(here, 0x1e35a7bd) >>> (32 - hashBits);
    const before = seen[slot] ?? 0;
    seen[slot] = at;
    if (before >= at || view.getUint32(before, true) !== here) {
      at += 1 + (misses >> 5);
      misses += 1;
      continue;
    }
    misses = 0;
    literal(at);
    const offset = at - before;
    let length = 4;
    while (at + length < bytes.length && bytes[before + length] === bytes[at + length]) length += 1;
    for (let left = length; left > 0; left -= 64) {
      output.push(Uint8Array.from([((Math.min(left, 64) - 1) << 2) | 2, offset & 255, offset >> 8]));
    }
    at += length;
    from = at;
  }
  literal(bytes.length);
  return Buffer.concat(output);
}
