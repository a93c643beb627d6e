import type { Secret } from '../../../api/core/kinds.ts';
import { kinds } from '../../../api/core/kinds.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { authoritySecrets } from '../components/authority-secrets.ts';
import { signerForOthers, trustedBy } from '../components/rotation/rotating-authority.ts';
import { secretText } from '../components/secret.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope, SecretFact } from '../scope.ts';
import { authorityRoot, broken, serviceAccountRoot } from './authority-roots.ts';
import type { Root } from './authority-roots.ts';
import { rotatedSince, rotationRequested, rotationTime } from './rotation.ts';
import { clusterTypeOf, lookAgainMs, storeFirst, tellSupplied } from './store-first.ts';
import type { Visiting } from './store-first.ts';
import { suppliedRoots } from './supplied-roots.ts';

interface Kept<T> {
  readonly value: T;
  readonly fact: SecretFact;
  readonly rotated: boolean;
}

/** The root as the cluster has it, or a new one that is safely stored: never two of one tenant. */
async function keep<T>(root: Root<T>, current: Secret | undefined, visit: Visiting): Promise<Kept<T>> {
  const { deps, ctx } = visit;
  if (current === undefined) {
    if (root.known) throw broken(root.secretName, 'is gone');
    const first = await storeFirst(root, visit);
    if ('value' in first) return kept(root, first.value, false);
    const result = await keep(root, first.stored, visit);
    if (first.isSupplied) tellSupplied(root, visit);
    return result;
  }
  const about = { rotated: rotationTime(current, ctx.now), type: clusterTypeOf(current) };
  if (rotationRequested(current)) {
    const value = await deps.issuers.run(() => root.make(secretText(current.data)));
    await deps.apply(visit.scope, root.manifest(value, about), ctx);
    return kept(root, value, true);
  }
  const { value, rotated } = await rotating(root, current, visit);
  await deps.apply(visit.scope, root.manifest(value, { ...about, rotated }), ctx);
  return kept(root, value, false);
}

/**
 * The value in the Secret at the step of the rotation that is on record. The new one is stored together with the time of the
 * rotation that it is for: none gets two, and one that was replaced at once meanwhile gets none.
 */
async function rotating<T>(
  root: Root<T>,
  current: Secret,
  { scope, deps, ctx }: Visiting,
): Promise<{ readonly value: T; readonly rotated: string | undefined }> {
  const rotation = scope.tcp.status?.certificates?.rotation?.[root.subject];
  const data = secretText(current.data);
  const isBegun = rotation !== undefined && rotatedSince(current, rotation.lastInitiationTime);
  const { value, verdict } = root.read(data, isBegun && rotation.phase === 'Preparing' ? rotation.step : undefined);
  if (!verdict.keep) throw broken(root.secretName, `is of no use (${verdict.reason}: ${verdict.message})`);
  if (rotation?.step === 'Trusting' && !isBegun) {
    const next = await deps.issuers.run(() => root.withNext(value, data));
    return { value: next, rotated: rotation.lastInitiationTime };
  }
  return { value: root.at(value, isBegun ? rotation.step : undefined), rotated: rotationTime(current, ctx.now) };
}

function kept<T>(root: Root<T>, value: T, rotated: boolean): Kept<T> {
  return { value, rotated, fact: { name: root.secretName, checksum: checksum(root.data(value)) } };
}

/**
 * The roots of trust of a tenant: made once, kept for ever. One that was known and is gone or broken is reported and not
 * replaced, because a new one cuts off every worker; the rotation annotation replaces it knowingly, and a rotation in two phases
 * cuts off nobody.
 */
export async function authorities(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const [caSecret, frontProxySecret] = authoritySecrets(tcp);
  if (caSecret === undefined || frontProxySecret === undefined) throw new Error('two authorities are expected');
  const roots = {
    ca: authorityRoot(scope, caSecret, ctx),
    frontProxyCa: authorityRoot(scope, frontProxySecret, ctx),
    serviceAccount: serviceAccountRoot(scope),
  };
  const missing = [roots.ca, roots.frontProxyCa, roots.serviceAccount].flatMap(({ known, secretName, purpose }) =>
    known || observed.secrets.has(secretName) ? [] : [purpose],
  );
  const supplied = await suppliedRoots(scope, missing, { deps, ctx });
  if (supplied.trouble !== undefined)
    return { is: 'waiting', reason: 'SuppliedSecretUnfit', message: supplied.trouble, afterMs: lookAgainMs };
  const ofSecret = async <T>(root: Root<T>): Promise<Kept<T>> => {
    const visit = { scope, deps, ctx, supplied };
    const key = { namespace: tcp.metadata.namespace ?? '', name: root.secretName };
    const listed = observed.secrets.get(root.secretName);
    // One that lost its label is not listed, and yet not gone.
    const unlisted = listed === undefined && root.known;
    return keep(root, unlisted ? await deps.cluster.get(kinds.Secret, key, { signal: ctx.signal }) : listed, visit);
  };
  const [ca, frontProxyCa, serviceAccount] = await Promise.all([
    ofSecret(roots.ca),
    ofSecret(roots.frontProxyCa),
    ofSecret(roots.serviceAccount),
  ]);
  if (ca.rotated)
    ctx.event(
      'Warning',
      'CertificateAuthorityRotated',
      `Secret ${ca.fact.name} was made anew on request: workers must join again`,
    );
  return {
    is: 'done',
    learned: {
      authorities: {
        ca: ca.value.active,
        frontProxyCa: frontProxyCa.value.active,
        trusted: trustedBy(ca.value),
        forOthers: { ca: signerForOthers(ca.value), frontProxyCa: signerForOthers(frontProxyCa.value) },
        bundled: { ca: ca.value.bundled, frontProxyCa: frontProxyCa.value.bundled },
        serviceAccount: serviceAccount.value,
        rotated: ca.rotated,
      },
      authorityFacts: {
        ca: ca.fact,
        'front-proxy-ca-certificate': frontProxyCa.fact,
        'service-account': serviceAccount.fact,
      },
    },
  };
}
