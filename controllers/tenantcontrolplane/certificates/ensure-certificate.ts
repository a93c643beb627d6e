import { checksum } from '../../../kubeadm/pki/checksum.ts';
import { evaluate } from '../../../kubeadm/pki/evaluate.ts';
import type { Dependencies } from '../dependencies.ts';
import type { SecretFact } from '../scope.ts';
import { rotationRequested, rotationTime } from '../shared/rotate.ts';
import { secretText } from '../shared/secret.ts';
import { requested } from './issue-certificates.ts';
import type { Issuing } from './issue-certificates.ts';
import { leafData, leafSecret } from './leaf-secrets.ts';
import type { LeafSecret } from './leaf-secrets.ts';

/** A stored certificate or kubeconfig. */
export interface Ensured {
  readonly component: string;
  readonly fact: SecretFact;
  /** When it must be renewed, in milliseconds since the epoch. */
  readonly renewal: number;
}

/** Keeps a valid certificate; any other is issued and stored. */
export async function ensureCertificate(where: LeafSecret, issuing: Issuing, deps: Dependencies): Promise<Ensured> {
  const { ctx, tcp } = issuing;
  const current = issuing.scope.observed.secrets.get(where.name);
  const data = secretText(current?.data);
  const pair = { certificate: data[where.keys.certificate] ?? '', key: data[where.keys.key] ?? '' };
  const verdict = rotationRequested(current)
    ? requested
    : evaluate(pair, {
        profile: issuing.leafOf(where.leaf).profile,
        ca: issuing.signerOf(where.leaf).certificate,
        now: ctx.now,
        thresholdMs: issuing.thresholdOf(where.leaf),
      });
  if (!verdict.keep && current !== undefined) issuing.announce(`Secret ${where.name}`, verdict);
  const kept = verdict.keep ? pair : await issuing.issue(where.leaf);
  await deps.apply(issuing.scope, leafSecret(tcp, where, { pair: kept, rotated: rotationTime(current, ctx.now) }), ctx);
  return {
    component: where.component,
    fact: { name: where.name, checksum: checksum(leafData(where, kept)) },
    renewal: issuing.renewalOf(where.leaf, kept.certificate),
  };
}
