import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';
import { issue } from '../../../kubeadm/pki/issue.ts';
import { evaluate } from '../../../kubeadm/pki/evaluate.ts';
import type { KeyAlgorithm, KeyPair, Profile } from '../../../kubeadm/pki/key-pair.ts';
import { certificateValidityMs, lifetimeFrom } from '../../../kubeadm/pki/lifetime.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Dependencies } from '../dependencies.ts';

/** A certificate of an add-on: its content, its signer and the stored pair. */
export interface PairInput {
  readonly profile: Profile;
  readonly authority: KeyPair;
  readonly algorithm: KeyAlgorithm;
  /** The stored pair; absent when a new one is to be issued. */
  readonly current: Partial<KeyPair> | undefined;
  /** What to call it in messages, e.g. the name of the Secret. */
  readonly what: string;
}

/** The pair to use, and when it must be renewed, in milliseconds since the epoch. */
export interface EnsuredKeyPair {
  readonly pair: KeyPair;
  readonly renewal: number;
}

/** The stored pair if it is valid, otherwise a new one, for a year or until its CA expires. */
export async function ensureKeyPair(input: PairInput, deps: Dependencies, ctx: Context): Promise<EnsuredKeyPair> {
  const { profile, authority, algorithm, current } = input;
  const [signer] = parseCertificates(authority.certificate, 'ca.crt');
  const end = signer.validToDate.getTime();
  // A new certificate would expire together with its CA anyway.
  const thresholdMs = end - ctx.now.getTime() > 2 * deps.renewBeforeMs ? deps.renewBeforeMs : 0;
  const verdict = evaluate(current, {
    profile,
    ca: authority.certificate,
    now: ctx.now,
    thresholdMs,
    ...(algorithm === 'Ed25519' && { keyTypes: ['ed25519'] }),
  });
  const renewalOf = (certificate: string): number =>
    parseCertificates(certificate, 'certificate')[0].validToDate.getTime() - thresholdMs;
  if (verdict.keep) {
    const { certificate = '', key = '' } = current ?? {};
    return { pair: { certificate, key }, renewal: renewalOf(certificate) };
  }
  if (verdict.reason !== 'Missing') {
    ctx.event('Normal', 'CertificateRenewed', `${input.what} is reissued: ${verdict.message}`);
  }
  const lifetime = lifetimeFrom(ctx.now, certificateValidityMs);
  const notAfter = new Date(Math.min(lifetime.notAfter.getTime(), end));
  const options = { algorithm, lifetime: { ...lifetime, notAfter } };
  const pair = await deps.issuers.run(() => issue(profile, authority, options));
  return { pair, renewal: renewalOf(pair.certificate) };
}
