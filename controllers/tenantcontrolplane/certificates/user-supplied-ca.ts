import { isSuppliedFor, suppliedKeys, suppliedSecretTypes } from '../../../api/cluster-api/supplied-secrets.ts';
import type { SuppliedPurpose } from '../../../api/cluster-api/supplied-secrets.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { dataKeys } from '../../../api/names.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { evaluateServiceAccountKeys } from '../../../kubeadm/pki/evaluate.ts';
import { evaluatePrivateKey, evaluateSigner } from '../../../kubeadm/pki/evaluate-signer.ts';
import type { KeyPair, Verdict } from '../../../kubeadm/pki/key-pair.ts';
import { publicKeyBlocks } from '../../../kubeadm/pki/public-keys.ts';
import { evaluateAuthority } from './rotation/evaluate-ca.ts';
import { secretText } from '../shared/secret.ts';

/** What a user supplied for one of the roots of a Cluster's tenant. */
export type SuppliedRoot =
  | { readonly is: 'none' }
  /** Byte by byte as supplied; for token keys, `certificate` is the public half. */
  | { readonly is: 'fit'; readonly pair: KeyPair }
  /** Why it cannot be used. */
  | { readonly is: 'unfit'; readonly why: string };

const pemBlocks = (text: string): number => text.split('-----BEGIN ').length - 1;

const unfit = (message: string): Verdict => ({ keep: false, reason: 'Malformed', message });

/** The CA signs client certificates and serving certificates; the front-proxy CA signs client certificates only. */
const signedBy = { ca: ['clientAuth', 'serverAuth'], proxy: ['clientAuth'] } as const;

/**
 * With more than one certificate kube-controller-manager would sign nothing, and anything else in that file would be published.
 */
function evaluateOneAuthority(purpose: 'ca' | 'proxy', pair: KeyPair, now: Date): Verdict {
  const { certificate, key } = suppliedKeys;
  if (pemBlocks(pair.certificate) > 1)
    return unfit(`${certificate} holds more than one PEM block: keep only the certificate to which ${key} belongs`);
  const verdict = evaluateAuthority({ authority: purpose === 'ca' ? 'ca' : 'front-proxy-ca' }, pair, now);
  return verdict.keep ? evaluateSigner(pair, signedBy[purpose]) : verdict;
}

function evaluateTokenKeys({ certificate: publicKey, key: privateKey }: KeyPair): Verdict {
  const { certificate, key } = suppliedKeys;
  const blocks = publicKeyBlocks(publicKey);
  if (blocks.length === 0 || blocks.length !== pemBlocks(publicKey))
    return unfit(`${certificate} must hold only the public half of ${key}, as a PEM block PUBLIC KEY`);
  // kube-apiserver reads only blocks of this type.
  if (blocks.some((block) => block.includes('RSA PUBLIC KEY')))
    return unfit(
      `${certificate} holds an RSA PUBLIC KEY, which kube-apiserver does not read: convert it to PUBLIC KEY with openssl rsa -in ${key} -pubout`,
    );
  const verdict = evaluateServiceAccountKeys({ publicKey, privateKey });
  return verdict.keep ? evaluatePrivateKey(privateKey, key) : verdict;
}

function verdictOf(purpose: SuppliedPurpose, pair: KeyPair, now: Date): Verdict {
  try {
    return purpose === 'sa' ? evaluateTokenKeys(pair) : evaluateOneAuthority(purpose, pair, now);
  } catch (error) {
    if (error instanceof InvalidInputError) return unfit(error.message);
    throw error;
  }
}

/** Why the Secret itself cannot be used, regardless of its content. */
function blockerOf({ type = 'Opaque', metadata, data = {} }: Secret): string | undefined {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  if (controller !== undefined) return `it is owned by ${controller.kind} ${controller.name}`;
  if (!suppliedSecretTypes.includes(type)) return `its type is ${type} instead of ${suppliedSecretTypes.join(' or ')}`;
  const { certificate, key } = dataKeys.ca;
  const isTwo = data[key] !== undefined && data[certificate] !== data[suppliedKeys.certificate];
  return isTwo ? twoUnder(certificate, suppliedKeys.certificate) : undefined;
}

const twoUnder = (one: string, other: string): string => `it holds one CA under ${one} and another under ${other}`;

/**
 * Prefix of the annotations by which cert-manager knows the Secrets that it renews
 * (https://cert-manager.io/docs/reference/annotations).
 */
const renewerPrefix = 'cert-manager.io/';

/** Why the Secret cannot become the tenant's own, which only Steward may write from then on. */
function blockerInPlace({ metadata, data = {}, immutable }: Secret): string | undefined {
  const { certificate, key } = dataKeys.ca;
  const pairs = [
    [certificate, suppliedKeys.certificate],
    [key, suppliedKeys.key],
  ] as const;
  for (const [own, supplied] of pairs)
    if (data[own] !== undefined && data[own] !== data[supplied]) return twoUnder(own, supplied);
  const renewer = Object.keys(metadata.annotations ?? {}).find((name) => name.startsWith(renewerPrefix));
  const copy = 'supply a copy that nothing else writes, or name the StewardControlPlane differently from its Cluster';
  if (renewer !== undefined)
    return `its annotation ${renewer} shows that cert-manager renews it, which would replace the CA of a running control plane: ${copy}`;
  return immutable === true ? `it is immutable, but the control plane must be able to update it: ${copy}` : undefined;
}

/** For which Cluster a Secret was supplied, for what purpose, and when it is evaluated. */
export interface SuppliedAs {
  readonly cluster: string;
  readonly purpose: SuppliedPurpose;
  readonly now: Date;
  /** True when it has the name of the tenant's own Secret, and would become that Secret. */
  readonly isInPlace: boolean;
}

/** What a Secret with the name of a Cluster's root means for its tenant. Keys are never part of a message. */
export function suppliedRoot(
  secret: Secret | undefined,
  { cluster, purpose, now, isInPlace }: SuppliedAs,
): SuppliedRoot {
  if (!isSuppliedFor(secret, cluster)) return { is: 'none' };
  const why = blockerOf(secret) ?? (isInPlace ? blockerInPlace(secret) : undefined);
  if (why !== undefined) return { is: 'unfit', why };
  const data = secretText(secret.data);
  const { certificate: certificateKey, key: keyKey } = suppliedKeys;
  const pair = { certificate: data[certificateKey] ?? '', key: data[keyKey] ?? '' };
  const empty = [certificateKey, keyKey].find((name) => (data[name] ?? '') === '');
  if (empty !== undefined) return { is: 'unfit', why: `its key ${empty} is empty` };
  const verdict = verdictOf(purpose, pair, now);
  return verdict.keep ? { is: 'fit', pair } : { is: 'unfit', why: verdict.message };
}
