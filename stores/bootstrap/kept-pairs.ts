import { issue, issueCa } from '../../kubeadm/pki/issue.ts';
import { judge } from '../../kubeadm/pki/judge.ts';
import type { KeyPair, Profile } from '../../kubeadm/pki/key-pair.ts';
import { caValidityMs, certificateValidityMs, lifetimeFrom } from '../../kubeadm/pki/lifetime.ts';
import { StoreError } from '../store-error.ts';
import type { SecretTexts } from './write-secrets.ts';

const renewBeforeMs = 90 * 24 * 60 * 60 * 1000;

/** How a certificate is issued. */
export interface Issuing {
  readonly now: Date;
  /** Authority of the pair. */
  readonly ca: KeyPair;
  /** In milliseconds; a year unless said. */
  readonly validityMs?: number;
}

function pairIn(texts: SecretTexts | undefined, prefix: 'ca' | 'tls'): KeyPair | undefined {
  const [certificate, key] = [texts?.[`${prefix}.crt`], texts?.[`${prefix}.key`]];
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

/**
 * The authority (`ca.crt`, `ca.key`) in the Secret of this name, or a new one when there is no Secret. One that is broken is
 * never replaced, since clients trust it: throws `StoreError` (CredentialsInvalid).
 */
export async function keptAuthority(
  name: string,
  texts: SecretTexts | undefined,
  profile: Profile,
  now: Date,
): Promise<KeyPair> {
  const current = pairIn(texts, 'ca');
  if (current === undefined && texts === undefined) {
    return issueCa(profile, { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(now, caValidityMs) });
  }
  const verdict = judge(current, { now, thresholdMs: 0 });
  if (verdict.keep && current !== undefined) return current;
  const seen = verdict.keep ? 'there is no certificate with its key' : verdict.message;
  throw new StoreError(
    'CredentialsInvalid',
    `Secret ${name}, ca.crt and ca.key: ${seen}. Everything trusts this authority, so it is not replaced: restore it, or delete the Secret for a new one`,
  );
}

/** The pair (`tls.crt`, `tls.key`) in the Secret while it fits and has three months left, or a new one. */
export async function keptPair(
  texts: SecretTexts | undefined,
  profile: Profile,
  { ca, now, validityMs = certificateValidityMs }: Issuing,
): Promise<KeyPair> {
  const current = pairIn(texts, 'tls');
  const verdict = judge(current, { profile, ca: ca.certificate, now, thresholdMs: renewBeforeMs });
  if (verdict.keep && current !== undefined) return current;
  return issue(profile, ca, { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(now, validityMs) });
}

/** A Secret of a server or client: its pair, and the authority that it shows itself to. */
export function pairTexts(ca: KeyPair, pair: KeyPair): SecretTexts {
  return { 'ca.crt': ca.certificate, 'tls.crt': pair.certificate, 'tls.key': pair.key };
}
