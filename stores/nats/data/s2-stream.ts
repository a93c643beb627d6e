import { CorruptValueError, decodeBlock, encodeBlock, longestBlock } from './s2-block.ts';

const identifier = Buffer.from([0xff, 6, 0, 0, ...Buffer.from('S2sTwO')]);
const compressed = 0;
const plain = 1;
const firstSkipped = 0x80;

/** Far more than the value of any API server, and little enough to have some of them in memory: a few bytes may stand for millions. */
const longestContent = 8 * 1024 * 1024;

/** Table n has what a byte becomes that n zero bytes follow, so that eight bytes are taken at once. */
const crcTables = new Uint32Array(8 * 256);
for (let byte = 0; byte < 256; byte += 1) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0x82f63b78;
  crcTables[byte] = crc;
}
for (let at = 256; at < crcTables.length; at += 1) {
  const before = entry(at - 256);
  crcTables[at] = (before >>> 8) ^ entry(before & 255);
}

function entry(at: number): number {
  return crcTables[at] ?? 0;
}

/** CRC-32C, masked as Snappy's framing does it. */
function checksum(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let crc = 0xffffffff;
  let at = 0;
  for (; at + 8 <= bytes.length; at += 8) {
    const first = crc ^ view.getUint32(at, true);
    const second = view.getUint32(at + 4, true);
    crc =
      entry(0x700 | (first & 255)) ^
      entry(0x600 | ((first >>> 8) & 255)) ^
      entry(0x500 | ((first >>> 16) & 255)) ^
      entry(0x400 | (first >>> 24)) ^
      entry(0x300 | (second & 255)) ^
      entry(0x200 | ((second >>> 8) & 255)) ^
      entry(0x100 | ((second >>> 16) & 255)) ^
      entry(second >>> 24);
  }
  for (; at < bytes.length; at += 1) crc = (crc >>> 8) ^ entry((crc ^ view.getUint8(at)) & 255);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

function chunk(kind: number, sum: number, body: Uint8Array): Uint8Array {
  const head = Buffer.alloc(8);
  head.writeUInt8(kind, 0);
  head.writeUIntLE(body.length + 4, 1, 3);
  head.writeUInt32LE(sum, 4);
  return Buffer.concat([head, body]);
}

/** A stream as readers of S2 and of framed Snappy take it (https://github.com/google/snappy, framing_format.txt). */
export function encodeStream(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [identifier];
  for (let at = 0; at < bytes.length; at += longestBlock) {
    const part = bytes.subarray(at, at + longestBlock);
    const block = encodeBlock(part);
    parts.push(
      block.length < part.length ? chunk(compressed, checksum(part), block) : chunk(plain, checksum(part), part),
    );
  }
  return Buffer.concat(parts);
}

/** What a stream of S2 holds. Throws `CorruptValueError`. */
export function decodeStream(stream: Uint8Array): Buffer {
  const bytes = Buffer.from(stream.buffer, stream.byteOffset, stream.byteLength);
  const parts: Uint8Array[] = [];
  let [at, length] = [0, 0];
  while (at < bytes.length) {
    if (at + 4 > bytes.length) throw new CorruptValueError('a compressed value is truncated');
    const kind = bytes.readUInt8(at);
    const body = bytes.subarray(at + 4, at + 4 + bytes.readUIntLE(at + 1, 3));
    at += 4 + bytes.readUIntLE(at + 1, 3);
    if (kind === compressed || kind === plain) {
      const part = checked(kind, body);
      length += part.length;
      if (length > longestContent) throw new CorruptValueError('a compressed value has more than 8 MiB');
      parts.push(part);
    } else if (kind < firstSkipped) throw new CorruptValueError(`a compressed value contains a chunk of kind ${kind}`);
  }
  return Buffer.concat(parts);
}

function checked(kind: number, body: Buffer): Uint8Array {
  if (body.length < 4) throw new CorruptValueError('a compressed value has a chunk without a checksum');
  const content = kind === plain ? body.subarray(4) : decodeBlock(body.subarray(4));
  if (checksum(content) === body.readUInt32LE(0)) return content;
  throw new CorruptValueError('a compressed value does not match its checksum');
}
