import type { Secret } from '../../../api/core/kinds.ts';

/** The length of a key in bytes: AES with 256 bits, and the only one that secretbox knows. */
export const keyBytes = 32;

/** A key from a Secret of the author, or why there is none. */
export type OfferedKey =
  | { readonly key: string }
  | { readonly reason: 'EncryptionKeyNotFound' | 'EncryptionKeyUnusable'; readonly message: string };

/** Reads a key from the author's Secret. Nothing of the key is in a message. */
export function offeredKey(
  secret: Secret | undefined,
  { name, key }: { readonly name: string; readonly key: string },
): OfferedKey {
  const field = 'spec.kubernetes.encryption.keySecret';
  const create = `create it with 32 random bytes in base64 under ${key}`;
  if (secret === undefined)
    return {
      reason: 'EncryptionKeyNotFound',
      message: `${field} names Secret ${name}, which does not exist: ${create}`,
    };
  const encoded = secret.data?.[key];
  if (encoded === undefined)
    return { reason: 'EncryptionKeyNotFound', message: `Secret ${name} of ${field} has no key ${key}: add it` };
  const text = Buffer.from(encoded, 'base64').toString('utf8').trim();
  const bytes = Buffer.from(text, 'base64');
  // Node reads what is not base64 as far as it can.
  if (bytes.length === keyBytes && bytes.toString('base64') === text) return { key: text };
  const isBase64 = bytes.toString('base64') === text;
  const what = isBase64 ? `holds ${bytes.length} bytes instead of ${keyBytes}` : 'is not base64';
  return {
    reason: 'EncryptionKeyUnusable',
    message: `the key ${key} in Secret ${name} of ${field} ${what}: use 32 random bytes in base64, for example the output of openssl rand -base64 32`,
  };
}
