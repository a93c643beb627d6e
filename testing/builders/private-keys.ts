import { createHash, createPrivateKey } from 'node:crypto';

/** The part of a Secret in which keys are. */
export interface KeyHolder {
  readonly data?: Readonly<Record<string, string>>;
}

const pemKeys = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----/g;
const embedded = /client-key-data: *"?([A-Za-z0-9+/=]+)/g;

/**
 * Hashes of all private keys in Secrets, each once: of PEM texts, and of kubeconfigs with embedded keys. The same key in two forms has one
 * hash.
 */
export function privateKeyHashes(secrets: readonly KeyHolder[]): ReadonlySet<string> {
  const texts = secrets.flatMap(({ data = {} }) => Object.values(data).map(decoded));
  const all = texts.flatMap((text) => [text, ...[...text.matchAll(embedded)].map(([, key = '']) => decoded(key))]);
  const keys = all.flatMap((text) => text.match(pemKeys) ?? []);
  return new Set(keys.map(hashOf));
}

function hashOf(pem: string): string {
  return createHash('sha256')
    .update(createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' }))
    .digest('hex');
}

function decoded(text: string): string {
  return Buffer.from(text, 'base64').toString();
}
