import { createHash } from 'node:crypto';

/**
 * A checksum of an object's data: 32 lower-case hex digits, which also fit a label value. It does not depend on the order of
 * keys, and different sets of entries are encoded differently; an undefined entry counts as absent.
 */
export function checksum(data: Readonly<Record<string, string | Uint8Array | undefined>>): string {
  const hash = createHash('sha256');
  for (const [key, value] of Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (value === undefined) continue;
    const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
    hash.update(`${Buffer.byteLength(key)}:${key}=${bytes.length}:`).update(bytes);
  }
  return hash.digest('hex').slice(0, 32);
}
