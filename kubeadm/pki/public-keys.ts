import { parsePrivateKey, publicKeyPem } from './private-key.ts';

const publicKeyBlock = /-----BEGIN (?:RSA )?PUBLIC KEY-----[\s\S]*?-----END (?:RSA )?PUBLIC KEY-----/g;

/** Every public key of a file, as PEM blocks in their order: kube-apiserver's --service-account-key-file accepts several. */
export function publicKeyBlocks(pem: string): readonly string[] {
  return pem.match(publicKeyBlock) ?? [];
}

/** A file of public keys in this order, each once. */
export function publicKeyFile(blocks: readonly string[]): string {
  return [...new Set(blocks.map((block) => block.trim()))].map((block) => `${block}\n`).join('');
}

/** The public half of a private key as PKIX PEM. Throws `InvalidInputError` naming `field`. */
export function publicHalf(privateKey: string, field: string): string {
  return publicKeyPem(parsePrivateKey(privateKey, field));
}
