import type { Secret } from '../../../api/core/kinds.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Rotation, RotationStep } from '../../../api/steward/v1alpha1/credentials-rotation.ts';
import { awaitedRestore } from '../../../api/steward/v1alpha1/backup/restore-mark.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { authoritySecrets } from './ca-secrets.ts';
import { signerForOthers, trustedBy } from './rotation/rotating-ca.ts';
import { secretText } from '../shared/secret.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope, SecretFact } from '../scope.ts';
import { authorityRoot, broken, serviceAccountRoot } from './ca-pairs.ts';
import type { Root } from './ca-pairs.ts';
import { notYetValid } from './not-yet-valid.ts';
import { rotatedSince, rotationRequested, rotationTime } from '../shared/rotate.ts';
import { clusterTypeOf, lookAgainMs, storeFirst, reportSupplied } from './persist-before-use.ts';
import type { CaRun } from './persist-before-use.ts';
import { suppliedRoots } from './user-supplied-cas.ts';

interface Kept<T> {
  readonly value: T;
  readonly fact: SecretFact;
  readonly rotated: boolean;
}

/** The root from the cluster, or a new one that is safely stored: a tenant never has two. */
async function keep<T>(root: Root<T>, current: Secret | undefined, run: CaRun): Promise<Kept<T>> {
  const { deps, ctx } = run;
  if (current === undefined) {
    if (root.known) throw broken(root.secretName);
    const first = await storeFirst(root, run);
    if ('value' in first) return kept(root, first.value, false);
    const keptFirst = await keep(root, first.stored, run);
    if (first.isSupplied) reportSupplied(root, run);
    return keptFirst;
  }
  const about = { rotated: rotationTime(current, ctx.now), type: clusterTypeOf(current) };
  if (rotationRequested(current)) {
    const value = await deps.issuers.run(() => root.make(secretText(current.data)));
    await deps.apply(run.scope, root.manifest(value, about), ctx);
    return kept(root, value, true);
  }
  const { value, rotated } = await rotating(root, current, run);
  await deps.apply(run.scope, root.manifest(value, { ...about, rotated }), ctx);
  return kept(root, value, false);
}

/**
 * The value in the Secret at the recorded step of the rotation. A new key is stored together with the start time of its rotation:
 * a rotation never gets two, and a root that was replaced at once in the meantime gets none.
 */
async function rotating<T>(
  root: Root<T>,
  current: Secret,
  { scope, deps, ctx }: CaRun,
): Promise<{ readonly value: T; readonly rotated: string | undefined }> {
  const rotation = scope.tcp.status?.certificates?.rotation?.[root.subject];
  const data = secretText(current.data);
  const isBegun = rotation !== undefined && rotatedSince(current, rotation.lastInitiationTime);
  const { value, verdict } = root.read(data, isBegun && rotation.phase === 'Preparing' ? rotation.step : undefined);
  if (!verdict.keep) throw notYetValid(root.secretName, verdict) ?? broken(root.secretName, verdict);
  if (rotation?.step === 'Trusting' && !isBegun) {
    const next = await deps.issuers.run(() => root.withNext(value, data));
    return { value: next, rotated: rotation.lastInitiationTime };
  }
  return { value: root.at(value, isBegun ? stepOf(rotation) : undefined), rotated: rotationTime(current, ctx.now) };
}

/** The step that a Secret must have reached; after the end the last one: a late request may have brought a predecessor back. */
const stepOf = ({ phase, step }: Rotation): RotationStep | undefined => (phase === 'Completed' ? 'Retiring' : step);

function kept<T>(root: Root<T>, value: T, rotated: boolean): Kept<T> {
  return { value, rotated, fact: { name: root.secretName, checksum: checksum(root.data(value)) } };
}

/**
 * The roots of trust of a tenant: generated once and kept forever. If a known one is missing or broken, it is reported and not
 * replaced, because a new one cuts off every worker. The rotation annotation replaces it deliberately; a gradual rotation
 * cuts off nothing.
 */
export async function authorities(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const [caSecret, frontProxySecret] = authoritySecrets(tcp);
  if (caSecret === undefined || frontProxySecret === undefined) throw new Error('two CAs are expected');
  const roots = {
    ca: authorityRoot(scope, caSecret, ctx),
    frontProxyCa: authorityRoot(scope, frontProxySecret, ctx),
    serviceAccount: serviceAccountRoot(scope),
  };
  const restore = awaitedRestore(tcp);
  const absent = [roots.ca, roots.frontProxyCa, roots.serviceAccount].filter(
    ({ secretName }) => !observed.secrets.has(secretName),
  );
  // Those of the backup are the only ones that it may ever have: whatever else is or is not there, none is generated.
  if (restore !== undefined && absent.length > 0) {
    const names = absent.map(({ secretName }) => secretName).join(', ');
    const message = `waiting for TenantRestore ${restore} to restore the Secrets ${names}`;
    return { is: 'waiting', reason: 'WaitingForRestore', message };
  }
  const missing = [roots.ca, roots.frontProxyCa, roots.serviceAccount].flatMap(({ known, secretName, purpose }) =>
    known || observed.secrets.has(secretName) ? [] : [purpose],
  );
  const supplied = await suppliedRoots(scope, missing, { deps, ctx });
  if (supplied.trouble !== undefined)
    return { is: 'waiting', reason: 'SuppliedSecretInvalid', message: supplied.trouble, afterMs: lookAgainMs };
  const ofSecret = async <T>(root: Root<T>): Promise<Kept<T>> => {
    const run = { scope, deps, ctx, supplied };
    const key = { namespace: tcp.metadata.namespace, name: root.secretName };
    const listed = observed.secrets.get(root.secretName);
    // A Secret that lost its label is not listed, but still exists.
    const unlisted = listed === undefined && root.known;
    return keep(root, unlisted ? await deps.cluster.get(kinds.Secret, key, { signal: ctx.signal }) : listed, run);
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
      `Secret ${ca.fact.name} was regenerated on request: workers must join again`,
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
