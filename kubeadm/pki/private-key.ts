import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { InvalidInputError } from '../invalid-input-error.ts';

const privateKeyBlock = /-----BEGIN (?:EC |RSA )?PRIVATE KEY-----[\s\S]*?-----END (?:EC |RSA )?PRIVATE KEY-----/;

/**
 * Reads an RSA or elliptic-curve private key from PEM: PKCS#8, PKCS#1 or SEC1, with or without an `EC PARAMETERS` block before it.
 * Throws `InvalidInputError` naming `field`; the key itself is never part of a message.
 */
export function parsePrivateKey(pem: string, field: string): KeyObject {
  const remedy = 'give an unencrypted RSA or EC private key in PEM form (PKCS#8, PKCS#1 or SEC1)';
  const block = privateKeyBlock.exec(pem)?.[0];
  if (block === undefined)
    throw new InvalidInputError({ field, reason: 'holds no PEM block of a private key', remedy });
  let key: KeyObject;
  try {
    key = createPrivateKey(block);
  } catch (cause) {
    throw new InvalidInputError({ field, reason: 'holds a private key that cannot be decoded', remedy }, { cause });
  }
  if (key.asymmetricKeyType !== 'rsa' && key.asymmetricKeyType !== 'ec') {
    const reason = `holds a key of type ${key.asymmetricKeyType ?? 'unknown'}`;
    throw new InvalidInputError({ field, reason, remedy });
  }
  return key;
}

/** PEM with a trailing newline in the form kubeadm writes: `RSA PRIVATE KEY` (PKCS#1) or `EC PRIVATE KEY` (SEC1). */
export function privateKeyPem(key: KeyObject): string {
  return key
    .export(key.asymmetricKeyType === 'rsa' ? { type: 'pkcs1', format: 'pem' } : { type: 'sec1', format: 'pem' })
    .toString();
}

/** The public half as PKIX PEM (`PUBLIC KEY`) with a trailing newline. */
export function publicKeyPem(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}
