import { createHash, createPrivateKey, createPublicKey, hkdfSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { decodeBase32, encodeBase32 } from './base32.ts';

/** The kind of an nkey; the first letter of its public form. */
export type NkeyKind = 'operator' | 'account' | 'user';

/** An Ed25519 key as NATS writes it. Holds the private half: never logged. */
export interface Nkey {
  readonly kind: NkeyKind;
  /** E.g. `A…` for an account. */
  readonly publicKey: string;
  /** E.g. `SA…` for an account. */
  readonly seed: string;
  /** The 32 bytes that everything is made of. */
  readonly raw: Uint8Array;
  sign(text: string): Uint8Array;
}

const prefixes: Readonly<Record<NkeyKind, number>> = { operator: 14 << 3, account: 0, user: 20 << 3 };
const seedPrefix = 18 << 3;
const rawLength = 32;
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** CRC-16/XMODEM, as nkeys end with it. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc;
}

function encode(head: readonly number[], raw: Uint8Array): string {
  const bytes = Uint8Array.from([...head, ...raw]);
  const crc = crc16(bytes);
  return encodeBase32(Uint8Array.from([...bytes, crc & 255, crc >> 8]));
}

/** The public form of these 32 bytes. */
export function publicNkey(kind: NkeyKind, bytes: Uint8Array): string {
  return encode([prefixes[kind]], bytes);
}

function nkey(kind: NkeyKind, raw: Uint8Array): Nkey {
  const prefix = prefixes[kind];
  const key: KeyObject = createPrivateKey({ key: Buffer.concat([pkcs8Head, raw]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return {
    kind,
    publicKey: publicNkey(kind, Buffer.from(x, 'base64url')),
    seed: encode([seedPrefix | (prefix >> 5), (prefix & 31) << 3], raw),
    raw,
    sign: (text) => sign(null, Buffer.from(text), key),
  };
}

/** The nkey of a seed; undefined when the text is no seed of this kind. White space around it is not part of it. */
export function nkeyOfSeed(kind: NkeyKind, seed: string): Nkey | undefined {
  const bytes = decodeBase32(seed.trim());
  if (bytes?.length !== rawLength + 4) return undefined;
  const found = nkey(kind, bytes.subarray(2, 2 + rawLength));
  return found.seed === seed.trim() ? found : undefined;
}

/** The nkey that 32 random bytes are. */
export function nkeyOfBytes(kind: NkeyKind, raw: Uint8Array): Nkey {
  if (raw.length !== rawLength) throw new RangeError(`an nkey needs ${rawLength} bytes, got ${raw.length}`);
  return nkey(kind, raw);
}

/**
 * An nkey that follows from a secret one and the purpose alone (HKDF-SHA256, RFC 5869). Each part of the purpose counts for
 * itself, wherever it ends.
 */
export function derivedNkey(kind: NkeyKind, secret: Nkey, purpose: readonly string[]): Nkey {
  const info = createHash('sha256')
    .update(JSON.stringify(['steward.butlerlabs.dev/nats', kind, ...purpose]))
    .digest();
  return nkey(kind, new Uint8Array(hkdfSync('sha256', secret.raw, new Uint8Array(), info, rawLength)));
}
