import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';
import { issue } from '../../../kubeadm/pki/issue.ts';
import { judge } from '../../../kubeadm/pki/judge.ts';
import type { KeyAlgorithm, KeyPair, Profile } from '../../../kubeadm/pki/key-pair.ts';
import { certificateValidityMs, lifetimeFrom } from '../../../kubeadm/pki/lifetime.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Dependencies } from '../dependencies.ts';

/** A certificate of an add-on: what it says, who signs it and what there is of it. */
export interface PairInput {
  readonly profile: Profile;
  readonly authority: KeyPair;
  readonly algorithm: KeyAlgorithm;
  /** As it is stored; absent when it is to be made anew. */
  readonly current: Partial<KeyPair> | undefined;
  /** Words for people, e.g. the Secret's name. */
  readonly what: string;
}

/** The pair to use, and when it must be renewed, in milliseconds since the epoch. */
export interface KeptPair {
  readonly pair: KeyPair;
  readonly renewal: number;
}

/** The pair in place while it is right, otherwise a new one, for a year or until its authority ends. */
export async function keptPair(input: PairInput, deps: Dependencies, ctx: Context): Promise<KeptPair> {
  const { profile, authority, algorithm, current } = input;
  const [signer] = parseCertificates(authority.certificate, 'ca.crt');
  const end = signer.validToDate.getTime();
  // A new one would end with its authority all the same.
  const thresholdMs = end - ctx.now.getTime() > 2 * deps.renewBeforeMs ? deps.renewBeforeMs : 0;
  const verdict = judge(current, {
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
    ctx.event('Normal', 'CertificateRenewed', `${input.what} is issued anew: ${verdict.message}`);
  }
  const lifetime = lifetimeFrom(ctx.now, certificateValidityMs);
  const notAfter = new Date(Math.min(lifetime.notAfter.getTime(), end));
  const options = { algorithm, lifetime: { ...lifetime, notAfter } };
  const pair = await deps.issuers.run(() => issue(profile, authority, options));
  return { pair, renewal: renewalOf(pair.certificate) };
}
