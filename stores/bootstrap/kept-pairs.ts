import { issue, issueCa } from '../../kubeadm/pki/issue.ts';
import { evaluate } from '../../kubeadm/pki/evaluate.ts';
import type { KeyPair, Profile } from '../../kubeadm/pki/key-pair.ts';
import { caValidityMs, certificateValidityMs, lifetimeFrom } from '../../kubeadm/pki/lifetime.ts';
import { StoreError } from '../store-error.ts';
import type { SecretTexts } from './write-secrets.ts';

const renewBeforeMs = 90 * 24 * 60 * 60 * 1000;

/** How a certificate is issued. */
export interface Issuing {
  readonly now: Date;
  /** The CA that signs the pair. */
  readonly ca: KeyPair;
  /** In milliseconds; default: a year. */
  readonly validityMs?: number;
}

function pairIn(texts: SecretTexts | undefined, prefix: 'ca' | 'tls'): KeyPair | undefined {
  const [certificate, key] = [texts?.[`${prefix}.crt`], texts?.[`${prefix}.key`]];
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

/**
 * The CA (`ca.crt`, `ca.key`) in the Secret with this name, or a new one when there is no Secret. A broken CA is never replaced, because
 * clients trust it: throws `StoreError` (CredentialsInvalid).
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
  const verdict = evaluate(current, { now, thresholdMs: 0 });
  if (verdict.keep && current !== undefined) return current;
  const seen = verdict.keep ? 'the certificate or its key is missing' : verdict.message;
  throw new StoreError(
    'CredentialsInvalid',
    `Secret ${name}, ca.crt and ca.key: ${seen}. Every client trusts this CA, so it is not replaced: restore it, or delete the Secret to get a new one`,
  );
}

/** The pair (`tls.crt`, `tls.key`) in the Secret if it is valid and has three months left, otherwise a new one. */
export async function ensureKeyPair(
  texts: SecretTexts | undefined,
  profile: Profile,
  { ca, now, validityMs = certificateValidityMs }: Issuing,
): Promise<KeyPair> {
  const current = pairIn(texts, 'tls');
  const verdict = evaluate(current, { profile, ca: ca.certificate, now, thresholdMs: renewBeforeMs });
  if (verdict.keep && current !== undefined) return current;
  return issue(profile, ca, { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(now, validityMs) });
}

/** The content of a Secret of a server or client: its pair and the CA. */
export function pairTexts(ca: KeyPair, pair: KeyPair): SecretTexts {
  return { 'ca.crt': ca.certificate, 'tls.crt': pair.certificate, 'tls.key': pair.key };
}
