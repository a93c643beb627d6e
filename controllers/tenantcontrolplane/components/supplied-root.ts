import { isSuppliedFor, suppliedKeys, suppliedSecretTypes } from '../../../api/cluster-api/supplied-secrets.ts';
import type { SuppliedPurpose } from '../../../api/cluster-api/supplied-secrets.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { dataKeys } from '../../../api/names.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { judgeServiceAccountKeys } from '../../../kubeadm/pki/judge.ts';
import { judgePrivateKey, judgeSigner } from '../../../kubeadm/pki/judge-signer.ts';
import type { KeyPair, Verdict } from '../../../kubeadm/pki/key-pair.ts';
import { publicKeyBlocks } from '../../../kubeadm/pki/public-keys.ts';
import { judgeAuthority } from './rotation/judge-authority.ts';
import { secretText } from './secret.ts';

/** What the author of a Cluster supplied for one of the roots of its tenant. */
export type SuppliedRoot =
  | { readonly is: 'none' }
  /** Byte by byte as it was supplied; of token keys `certificate` is the public half. */
  | { readonly is: 'fit'; readonly pair: KeyPair }
  /** Why it cannot be the tenant's, in words. */
  | { readonly is: 'unfit'; readonly why: string };

const pemBlocks = (text: string): number => text.split('-----BEGIN ').length - 1;

const unfit = (message: string): Verdict => ({ keep: false, reason: 'Malformed', message });

/** Users and programs prove themselves to the API server, and it to them; to extension API servers only the first. */
const signedBy = { ca: ['clientAuth', 'serverAuth'], proxy: ['clientAuth'] } as const;

/** More than one certificate would have kube-controller-manager sign nothing, and anything else in that file is published. */
function judgeOneAuthority(purpose: 'ca' | 'proxy', pair: KeyPair, now: Date): Verdict {
  const { certificate, key } = suppliedKeys;
  if (pemBlocks(pair.certificate) > 1)
    return unfit(`${certificate} holds more than one PEM block: leave the certificate to which ${key} belongs`);
  const verdict = judgeAuthority({ authority: purpose === 'ca' ? 'ca' : 'front-proxy-ca' }, pair, now);
  return verdict.keep ? judgeSigner(pair, signedBy[purpose]) : verdict;
}

function judgeTokenKeys({ certificate: publicKey, key: privateKey }: KeyPair): Verdict {
  const { certificate, key } = suppliedKeys;
  const blocks = publicKeyBlocks(publicKey);
  if (blocks.length === 0 || blocks.length !== pemBlocks(publicKey))
    return unfit(`${certificate} must hold the public half of ${key} as a PEM block PUBLIC KEY, and nothing else`);
  // kube-apiserver reads only what is named so.
  if (blocks.some((block) => block.includes('RSA PUBLIC KEY')))
    return unfit(
      `${certificate} holds an RSA PUBLIC KEY, which kube-apiserver does not read: write it as PUBLIC KEY, with openssl rsa -in ${key} -pubout`,
    );
  const verdict = judgeServiceAccountKeys({ publicKey, privateKey });
  return verdict.keep ? judgePrivateKey(privateKey, key) : verdict;
}

function verdictOf(purpose: SuppliedPurpose, pair: KeyPair, now: Date): Verdict {
  try {
    return purpose === 'sa' ? judgeTokenKeys(pair) : judgeOneAuthority(purpose, pair, now);
  } catch (error) {
    if (error instanceof InvalidInputError) return unfit(error.message);
    throw error;
  }
}

/** Why the Secret itself, whatever its keys hold, cannot be what its author means it to be. */
function obstacleOf({ type = 'Opaque', metadata, data = {} }: Secret): string | undefined {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  if (controller !== undefined) return `it belongs to the ${controller.kind} ${controller.name}`;
  if (!suppliedSecretTypes.includes(type)) return `its type is ${type} and not ${suppliedSecretTypes.join(' or ')}`;
  const { certificate, key } = dataKeys.ca;
  const isTwo = data[key] !== undefined && data[certificate] !== data[suppliedKeys.certificate];
  return isTwo ? twoUnder(certificate, suppliedKeys.certificate) : undefined;
}

const twoUnder = (one: string, other: string): string =>
  `it holds one authority under ${one} and another under ${other}`;

/** Before all annotations by which cert-manager knows the Secrets that it renews (https://cert-manager.io/docs/reference/annotations). */
const renewerPrefix = 'cert-manager.io/';

/** Why the Secret cannot become the tenant's own, which nobody else may write any more. */
function obstacleInPlace({ metadata, data = {}, immutable }: Secret): string | undefined {
  const { certificate, key } = dataKeys.ca;
  const pairs = [
    [certificate, suppliedKeys.certificate],
    [key, suppliedKeys.key],
  ] as const;
  for (const [own, supplied] of pairs)
    if (data[own] !== undefined && data[own] !== data[supplied]) return twoUnder(own, supplied);
  const renewer = Object.keys(metadata.annotations ?? {}).find((name) => name.startsWith(renewerPrefix));
  const copy = 'supply a copy that nobody else writes, or give the StewardControlPlane another name than its Cluster';
  if (renewer !== undefined)
    return `its annotation ${renewer} says that cert-manager renews it, which would replace the CA of a running control plane: ${copy}`;
  return immutable === true ? `it is immutable, and is to become the control plane's own: ${copy}` : undefined;
}

/** For whom a Secret was supplied, as what, and when it is judged. */
export interface SuppliedAs {
  readonly cluster: string;
  readonly purpose: SuppliedPurpose;
  readonly now: Date;
  /** True when it has the name of the tenant's own Secret, and would become that. */
  readonly isInPlace: boolean;
}

/** What a Secret at the name of a root of a Cluster's tenant is for that tenant. Its keys are never part of a message. */
export function suppliedRoot(
  secret: Secret | undefined,
  { cluster, purpose, now, isInPlace }: SuppliedAs,
): SuppliedRoot {
  if (!isSuppliedFor(secret, cluster)) return { is: 'none' };
  const why = obstacleOf(secret) ?? (isInPlace ? obstacleInPlace(secret) : undefined);
  if (why !== undefined) return { is: 'unfit', why };
  const data = secretText(secret.data);
  const { certificate: certificateKey, key: keyKey } = suppliedKeys;
  const pair = { certificate: data[certificateKey] ?? '', key: data[keyKey] ?? '' };
  const empty = [certificateKey, keyKey].find((name) => (data[name] ?? '') === '');
  if (empty !== undefined) return { is: 'unfit', why: `its key ${empty} is empty` };
  const verdict = verdictOf(purpose, pair, now);
  return verdict.keep ? { is: 'fit', pair } : { is: 'unfit', why: verdict.message };
}
