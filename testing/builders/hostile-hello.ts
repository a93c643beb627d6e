/** What is said in place of a ClientHello. */
export const hostileKinds = [
  'garbage',
  'nothing',
  'plain HTTP',
  'cut off',
  'slow',
  'oversized',
  'lengths that lie',
  'old version',
  'many records',
] as const;
export type HostileKind = (typeof hostileKinds)[number];

/** One of them. `slow` is to be sent byte by byte. */
export interface HostileHello {
  readonly kind: HostileKind;
  readonly bytes: Buffer;
}

const randomLength = 32;
const sessionLength = 32;
const recordAndHandshake = 9;
/** Where the parts of {@link validHello} begin. */
const session = recordAndHandshake + 2 + randomLength;
const ciphers = session + 1 + sessionLength;
const compressions = ciphers + 2 + 4;
const extensions = compressions + 2;
const lengths = [4, 8, session, ciphers + 1, compressions, extensions + 1, extensions + 5];

/** One of the many hellos that no client says, by its number: each number has always the same. */
export function hostileHello(index: number): HostileHello {
  const kind = hostileKinds[index % hostileKinds.length] ?? 'garbage';
  return { kind, bytes: bytesOf(kind, Math.floor(index / hostileKinds.length)) };
}

/** A hello that is as it should be: what the others differ from. */
export function validHello(version = 0x0303): Buffer {
  const extension = [0, 43, 0, 3, 2, 3, 4];
  const body = Buffer.from([
    ...[version >> 8, version & 0xff],
    ...Array.from({ length: randomLength }, (_, at) => at),
    ...[sessionLength, ...Array.from({ length: sessionLength }, (_, at) => 255 - at)],
    ...[0, 4, 0x13, 0x01, 0xc0, 0x2b],
    ...[1, 0],
    ...[0, extension.length, ...extension],
  ]);
  return Buffer.concat([Buffer.from([22, 3, 1, 0, body.length + 4, 1, 0, 0, body.length]), body]);
}

function bytesOf(kind: HostileKind, index: number): Buffer {
  const hello = validHello();
  switch (kind) {
    case 'garbage':
      return garbage(index, 1 + ((index * 7919) % 4_000));
    case 'nothing':
      return Buffer.alloc(0);
    case 'plain HTTP':
      return Buffer.from(`GET /readyz?call=${index} HTTP/1.1\r\nhost: shop\r\n\r\n`);
    case 'cut off':
      return hello.subarray(0, 1 + ((index * 31) % (hello.length - 1)));
    case 'slow':
      return hello.subarray(0, -1);
    case 'oversized':
      // The greatest record, or a message that is longer than that.
      return Buffer.concat([
        Buffer.from(
          index % 2 === 0 ? [22, 3, 1, 63, 255, 1, 0, 63, 250, 3, 3] : [22, 3, 1, 64, 0, 1, 0, 255, 255, 3, 3],
        ),
        garbage(index, 20_000),
      ]);
    case 'lengths that lie': {
      const wrong = Buffer.from(hello);
      const place = lengths[index % lengths.length] ?? 4;
      const by = Math.floor(index / lengths.length) % 2 === 0 ? 1 : -1;
      wrong.writeUInt8(((wrong[place] ?? 0) + by) & 0xff, place);
      return wrong;
    }
    case 'old version':
      // Version 2 of SSL, version 1.0 and 1.1 of TLS.
      if (index % 3 === 0) return Buffer.from([0x80, 0x2e, 1, 0, 2, 0, 21, 0, 0, 0, 16]);
      return validHello(index % 3 === 1 ? 0x0301 : 0x0302);
    case 'many records':
      return Buffer.from(Array.from({ length: 600 }, () => [22, 3, 1, 0, 1, index % 7 === 0 ? 1 : 0]).flat());
  }
}

/** Bytes without a pattern, the same for the same number. */
function garbage(seed: number, length: number): Buffer {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return Buffer.from(
    Array.from({ length }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    }),
  );
}
