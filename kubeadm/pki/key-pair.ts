/** A certificate and its private key, PEM, each with a trailing newline. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** kubeadm's names (v1beta4 `encryptionAlgorithm`), with ECDSA-P256 as our default. */
export type EncryptionAlgorithm = 'ECDSA-P256' | 'ECDSA-P384' | 'RSA-2048' | 'RSA-3072' | 'RSA-4096';

/** How a key is made; Ed25519 (RFC 8410) is for those who read no other, such as Talos, and never for Kubernetes' own. */
export type KeyAlgorithm = EncryptionAlgorithm | 'Ed25519';

/** What a certificate says, whoever signs it. */
export interface Profile {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** Absent for a leaf. */
  readonly ca?: boolean;
  /** Of an authority: how many more may stand between it and a leaf; absent for no limit. */
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

/** Keep the pair, or renew it because of a reason a person understands. */
export type Verdict =
  { readonly keep: true } | { readonly keep: false; readonly reason: string; readonly message: string };
