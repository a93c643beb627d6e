import { createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/**
 * The private key in a PEM file, PKCS #8 or SEC 1, perhaps with a passphrase.
 * Throws when it is no key on P-256, the only curve that cosign takes from a key file by default.
 */
export async function readSigningKey(file: string, passphrase?: string): Promise<KeyObject> {
  const pem = await readFile(file, 'utf8');
  const key = parseKey(file, pem, passphrase);
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    const kind = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? 'unknown';
    throw new Error(
      `${file} holds a key of kind ${kind}; P-256 is needed: openssl ecparam -genkey -name prime256v1 -noout`,
    );
  }
  return key;
}

function parseKey(file: string, pem: string, passphrase?: string): KeyObject {
  try {
    return createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) });
  } catch (error) {
    // The error of the library may quote the file.
    const hint = pem.includes('SIGSTORE') ? ' (a key of cosign itself; make one with openssl instead)' : '';
    throw new Error(
      `${file} holds no readable private key in PEM${hint}; a key with a passphrase needs SIGNING_KEY_PASSWORD`,
      { cause: error instanceof Error ? error.name : undefined },
    );
  }
}
