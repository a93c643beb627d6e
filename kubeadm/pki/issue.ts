import type { EncryptionAlgorithm, KeyAlgorithm, KeyPair, Lifetime, Profile } from './key-pair.ts';
import { kubernetesKeyTypes, privateKeyPem, publicKeyPem } from './private-key.ts';
import type { KeyType } from './private-key.ts';
import { newPrivateKey, readSigner, sign } from './sign.ts';
import type { Signer } from './sign.ts';

/** How a certificate is issued: the algorithm of the new key, and the validity. */
export interface IssueOptions {
  readonly algorithm: KeyAlgorithm;
  readonly lifetime: Lifetime;
}

/** The key pair with which service-account tokens are signed. */
export interface ServiceAccountKeys {
  /** PKIX PEM, `PUBLIC KEY`. */
  readonly publicKey: string;
  /** PEM, `EC PRIVATE KEY` or `RSA PRIVATE KEY`. */
  readonly privateKey: string;
}

/**
 * A new self-signed CA with its own key (RFC 5280). Certificate and key are PEM with a trailing newline, the key in the form
 * kubeadm writes.
 */
export async function issueCa(profile: Profile, options: IssueOptions): Promise<KeyPair> {
  const key = await newPrivateKey(options.algorithm);
  return sign({ ...profile, ca: true }, key, { key }, options.lifetime);
}

/**
 * A new key and a certificate for it, signed by `ca`; when `ca.certificate` is a bundle, by its first certificate.
 * Throws `InvalidInputError` when the certificate or the key of the CA cannot be read or do not belong together.
 */
export async function issue(profile: Profile, ca: KeyPair, options: IssueOptions): Promise<KeyPair> {
  const signer = signerOf(ca, keyTypesFor(options.algorithm));
  return sign(profile, await newPrivateKey(options.algorithm), signer, options.lifetime);
}

/** Those that were read, as long as somebody has the pair: a CA signs many certificates at once. */
const signers = new WeakMap<KeyPair, { readonly types: readonly KeyType[]; readonly signer: Required<Signer> }>();

function signerOf(ca: KeyPair, types: readonly KeyType[]): Required<Signer> {
  const known = signers.get(ca);
  if (known?.types === types) return known.signer;
  const signer = readSigner(ca, types);
  signers.set(ca, { types, signer });
  return signer;
}

const ed25519: readonly KeyType[] = ['ed25519'];

/** The types of CA keys that may sign a key of this algorithm. */
function keyTypesFor(algorithm: KeyAlgorithm): readonly KeyType[] {
  return algorithm === 'Ed25519' ? ed25519 : kubernetesKeyTypes;
}

/** A new key pair for service-account tokens (RS256, ES256 or ES384, by the algorithm). */
export async function issueServiceAccountKeys(algorithm: EncryptionAlgorithm): Promise<ServiceAccountKeys> {
  const key = await newPrivateKey(algorithm);
  return { publicKey: publicKeyPem(key), privateKey: privateKeyPem(key) };
}
