import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { InvalidInputError } from '../invalid-input-error.ts';

const privateKeyBlock = /-----BEGIN (?:EC |RSA )?PRIVATE KEY-----[\s\S]*?-----END (?:EC |RSA )?PRIVATE KEY-----/;

/** The kinds of private keys, with Node's names. */
export type KeyType = 'rsa' | 'ec' | 'ed25519';

/** The kinds that Kubernetes and kubeadm write and read. */
export const kubernetesKeyTypes: readonly KeyType[] = ['rsa', 'ec'];

const isAmong = (types: readonly KeyType[], type: string | undefined): boolean => types.some((one) => one === type);

/**
 * Reads an RSA or elliptic-curve private key from PEM: PKCS#8, PKCS#1 or SEC1, with or without an `EC PARAMETERS` block before
 * it. `types` sets other accepted kinds. Throws `InvalidInputError` naming `field`; the key itself is never part of a message.
 */
export function parsePrivateKey(pem: string, field: string, types: readonly KeyType[] = kubernetesKeyTypes): KeyObject {
  const remedy = isAmong(types, 'ed25519')
    ? 'provide an unencrypted Ed25519 private key in PEM form (PKCS#8)'
    : 'provide an unencrypted RSA or EC private key in PEM form (PKCS#8, PKCS#1 or SEC1)';
  const block = privateKeyBlock.exec(pem)?.[0];
  if (block === undefined) throw new InvalidInputError({ field, reason: 'holds no private key in PEM form', remedy });
  let key: KeyObject;
  try {
    key = createPrivateKey(block);
  } catch (cause) {
    throw new InvalidInputError({ field, reason: 'holds a private key that cannot be decoded', remedy }, { cause });
  }
  if (!isAmong(types, key.asymmetricKeyType)) {
    const reason = `holds a key of type ${key.asymmetricKeyType ?? 'unknown'}`;
    throw new InvalidInputError({ field, reason, remedy });
  }
  return key;
}

/**
 * PEM with a trailing newline in the form kubeadm writes: `RSA PRIVATE KEY` (PKCS#1) or `EC PRIVATE KEY` (SEC1); PKCS#8 for
 * Ed25519, which has no other form.
 */
export function privateKeyPem(key: KeyObject): string {
  if (key.asymmetricKeyType === 'ed25519') return key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return key
    .export(key.asymmetricKeyType === 'rsa' ? { type: 'pkcs1', format: 'pem' } : { type: 'sec1', format: 'pem' })
    .toString();
}

/** The public half as PKIX PEM (`PUBLIC KEY`) with a trailing newline. */
export function publicKeyPem(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}
