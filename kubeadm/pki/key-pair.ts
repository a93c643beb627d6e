/** A certificate and its private key, PEM, each with a trailing newline. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** kubeadm's names (v1beta4 `encryptionAlgorithm`), with ECDSA-P256 as our default. */
export type EncryptionAlgorithm = 'ECDSA-P256' | 'ECDSA-P384' | 'RSA-2048' | 'RSA-3072' | 'RSA-4096';

/**
 * The algorithm of a key; Ed25519 (RFC 8410) is for programs that read no other, such as Talos, and never for Kubernetes itself.
 */
export type KeyAlgorithm = EncryptionAlgorithm | 'Ed25519';

/** The content of a certificate, independent of its signer. */
export interface Profile {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** Absent for a certificate that is not a CA. */
  readonly ca?: boolean;
  /** For a CA: how many further CAs may follow in a chain; absent for no limit. */
  readonly pathLength?: number;
  readonly usages: readonly ('clientAuth' | 'serverAuth' | 'codeSigning')[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

/** Wall-clock validity. */
export interface Lifetime {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Keep the pair, or renew it for a reason that is shown to people. */
export type Verdict =
  { readonly keep: true } | { readonly keep: false; readonly reason: string; readonly message: string };
