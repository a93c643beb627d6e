import { parseCertificates } from './certificate-chain.ts';

/**
 * One PEM text with every certificate of `pems`, in order and each once. A single text is returned unchanged, byte by byte.
 * Throws `InvalidInputError` for a text without certificates or with an invalid one.
 */
export function trustBundle(pems: readonly [string, ...string[]]): string {
  const [first, ...rest] = pems;
  if (rest.length === 0) return first;
  const known = new Set<string>();
  const distinct = pems
    .flatMap((pem) => parseCertificates(pem, 'ca.crt'))
    .filter(({ fingerprint256 }) => {
      if (known.has(fingerprint256)) return false;
      known.add(fingerprint256);
      return true;
    });
  return distinct.map((certificate) => `${certificate.toString().trim()}\n`).join('');
}
