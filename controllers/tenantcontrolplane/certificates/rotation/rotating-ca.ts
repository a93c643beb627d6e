import type { RotationStep } from '../../../../api/steward/v1alpha1/credentials-rotation.ts';
import type { KeyPair } from '../../../../kubeadm/pki/key-pair.ts';
import { trustBundle } from '../../../../kubeadm/pki/trust-bundle.ts';
import type { AuthoritySecret } from '../ca-secrets.ts';

type Data = Readonly<Record<string, string>>;

/** A CA, and during a rotation its successor or its predecessor. */
export interface RotatingAuthority {
  /** What signs certificates that the tenant's own API server verifies, and the requests that kube-controller-manager signs. */
  readonly active: KeyPair;
  /** Trusted together with the active one, but signs nothing yet. */
  readonly next?: KeyPair;
  /** Trusted together with the active one. Its key still signs certificates for clients that may not know the active one yet. */
  readonly previous?: { readonly certificate: string; readonly key?: string };
  /** True when the Secret has a bundle of its own: from the first rotation on. */
  readonly bundled: boolean;
}

/** The certificates to trust: the CA itself byte by byte, or during a rotation all of them, the active one first. */
export function trustedBy({ active, next, previous }: RotatingAuthority): string {
  const others = [next?.certificate, previous?.certificate].filter((pem) => pem !== undefined);
  return trustBundle([active.certificate, ...others]);
}

/** The signer of certificates that clients other than the tenant's API server verify, above all kubelets. */
export function signerForOthers({ active, previous }: RotatingAuthority): KeyPair {
  const { certificate, key } = previous ?? {};
  return certificate === undefined || key === undefined ? active : { certificate, key };
}

const order: readonly RotationStep[] = ['Trusting', 'Signing', 'Serving', 'Retiring'];

/** True when `step` is `at`, or comes after it. */
export function hasReached(step: RotationStep | undefined, at: RotationStep): boolean {
  return step !== undefined && order.indexOf(step) >= order.indexOf(at);
}

/** The pair that a user or a rotation put beside the active one; undefined for none, or if it is the active one itself. */
export function offeredPair({ keys }: AuthoritySecret, data: Data, active: KeyPair): KeyPair | undefined {
  const [certificate, key] = [data[keys.nextCertificate] ?? '', data[keys.nextKey] ?? ''];
  // The user's own fields stay in the Secret after the pair has become the active one.
  const isActive = certificate.trim() === active.certificate.trim();
  return (certificate === '' && key === '') || isActive ? undefined : { certificate, key };
}

/** The CA in a Secret whose active pair is `active`. */
export function readAuthority(
  where: AuthoritySecret,
  data: Data,
  { active, isPreparing }: { readonly active: KeyPair; readonly isPreparing: boolean },
): RotatingAuthority {
  const { keys } = where;
  const certificate = data[keys.previousCertificate];
  // If there is a previous CA, its successor is already active, and a pair that a user adds is for another rotation.
  const next = isPreparing && certificate === undefined ? offeredPair(where, data, active) : undefined;
  const key = data[keys.previousKey];
  return {
    active,
    next,
    ...(certificate !== undefined && { previous: { certificate, key } }),
    bundled: data[keys.bundle] !== undefined,
  };
}

/** The CA at a given step of its rotation, from any current step. */
export function authorityAt(authority: RotatingAuthority, step: RotationStep | undefined): RotatingAuthority {
  const { active, next } = authority;
  const signing: RotatingAuthority =
    next !== undefined && hasReached(step, 'Signing') ? { active: next, previous: active, bundled: true } : authority;
  if (hasReached(step, 'Retiring')) return { active: signing.active, bundled: signing.bundled };
  const { previous } = signing;
  if (previous === undefined || !hasReached(step, 'Serving')) return signing;
  return { ...signing, previous: { certificate: previous.certificate } };
}

/** The values of a CA's Secret. */
export function authorityData({ keys, copies }: AuthoritySecret, authority: RotatingAuthority): Data {
  const { active, next, previous, bundled } = authority;
  const trusted = trustedBy(authority);
  const pairs = copies.flatMap((copy): [string, string][] => [
    // kube-controller-manager signs with a file that holds one certificate; Cluster API takes hashes of all certificates in its
    // own copy.
    [copy.certificate, copy.isBundle === true ? trusted : active.certificate],
    [copy.key, active.key],
  ]);
  return {
    ...Object.fromEntries(pairs),
    ...(bundled && { [keys.bundle]: trusted }),
    ...(next !== undefined && { [keys.nextCertificate]: next.certificate, [keys.nextKey]: next.key }),
    ...(previous !== undefined && { [keys.previousCertificate]: previous.certificate }),
    ...(previous?.key !== undefined && { [keys.previousKey]: previous.key }),
  };
}
