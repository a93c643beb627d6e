import { CorruptValueError, decodeBlock, encodeBlock, longestBlock } from './s2-block.ts';

const identifier = Buffer.from([0xff, 6, 0, 0, ...Buffer.from('S2sTwO')]);
const compressed = 0;
const plain = 1;
const firstSkipped = 0x80;

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0x82f63b78;
  return crc;
});

/** CRC-32C, masked as Snappy's framing does it. */
function checksum(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (crcTable[(crc ^ byte) & 255] ?? 0);
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
  let at = 0;
  while (at < bytes.length) {
    if (at + 4 > bytes.length) throw new CorruptValueError('a compressed value is truncated');
    const kind = bytes.readUInt8(at);
    const body = bytes.subarray(at + 4, at + 4 + bytes.readUIntLE(at + 1, 3));
    at += 4 + bytes.readUIntLE(at + 1, 3);
    if (kind === compressed || kind === plain) parts.push(checked(kind, body));
    else if (kind < firstSkipped) throw new CorruptValueError(`a compressed value contains a chunk of kind ${kind}`);
  }
  return Buffer.concat(parts);
}

function checked(kind: number, body: Buffer): Uint8Array {
  if (body.length < 4) throw new CorruptValueError('a compressed value has a chunk without a checksum');
  const content = kind === plain ? body.subarray(4) : decodeBlock(body.subarray(4));
  if (checksum(content) === body.readUInt32LE(0)) return content;
  throw new CorruptValueError('a compressed value does not match its checksum');
}
