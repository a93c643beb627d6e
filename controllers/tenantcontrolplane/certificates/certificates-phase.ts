import { checksum } from '../../../kubeadm/pki/checksum.ts';
import { evaluate } from '../../../kubeadm/pki/evaluate.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { leafData, leafSecret, leafSecrets } from './leaf-secrets.ts';
import type { LeafSecret } from './leaf-secrets.ts';
import { secretText } from '../shared/secret.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope, SecretFact } from '../scope.ts';
import { Issuing, requested } from './issue-certificates.ts';
import { rotationRequested, rotationTime } from '../shared/rotate.ts';

interface Stored {
  readonly component: string;
  readonly fact: SecretFact;
  readonly renewal: number;
}

async function keep(where: LeafSecret, issuing: Issuing, deps: Dependencies): Promise<Stored> {
  const { ctx, tcp } = issuing;
  const current = issuing.scope.observed.secrets.get(where.name);
  const data = secretText(current?.data);
  const pair = { certificate: data[where.keys.certificate] ?? '', key: data[where.keys.key] ?? '' };
  const verdict = rotationRequested(current)
    ? requested
    : evaluate(pair, {
        profile: issuing.leaves[where.leaf].profile,
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

/**
 * The certificates of the API server: valid ones are kept, all others are issued and stored. A broken one is repaired, since
 * clients trust its CA and not the certificate itself.
 */
export async function certificates(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const issuing = new Issuing(scope, deps, ctx);
  const all = await Promise.all(leafSecrets(scope.tcp).map((where) => keep(where, issuing, deps)));
  return {
    is: 'done',
    learned: {
      certificateFacts: Object.fromEntries(all.map(({ component, fact }) => [component, fact])),
      certificateRenewal: Math.min(...all.map(({ renewal }) => renewal)),
    },
  };
}
