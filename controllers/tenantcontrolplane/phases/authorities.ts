import type { Secret } from '../../../api/core/kinds.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { annotations, dataKeys, tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { issueCa, issueServiceAccountKeys } from '../../../kubeadm/pki/issue.ts';
import type { ServiceAccountKeys } from '../../../kubeadm/pki/issue.ts';
import { judge, judgeServiceAccountKeys } from '../../../kubeadm/pki/judge.ts';
import type { KeyPair, Verdict } from '../../../kubeadm/pki/key-pair.ts';
import { caValidityMs, lifetimeFrom } from '../../../kubeadm/pki/lifetime.ts';
import { authorityProfiles } from '../../../kubeadm/pki/profiles.ts';
import { ApiError, TerminalError } from '../../../runtime/errors.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import {
  authorityData,
  authoritySecret,
  authoritySecrets,
  serviceAccountData,
  serviceAccountSecret,
} from '../components/authority-secrets.ts';
import type { AuthoritySecret } from '../components/authority-secrets.ts';
import { secretText } from '../components/secret.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import type { Scope, SecretFact } from '../scope.ts';
import { rotationRequested, rotationTime } from './rotation.ts';

/** How one of the tenant's roots of trust is read, made and kept. */
interface Root<T> {
  readonly secretName: string;
  readonly component: string;
  /** True when it existed before: then it is never silently made anew. */
  readonly known: boolean;
  /** The value in a Secret with the verdict about it. */
  read(data: Readonly<Record<string, string>>): { readonly value: T; readonly verdict: Verdict };
  make(): Promise<T>;
  manifest(value: T, rotated: string | undefined): Manifest;
  data(value: T): Readonly<Record<string, string>>;
}

interface Kept<T> {
  readonly value: T;
  readonly fact: SecretFact;
  readonly rotated: boolean;
}

interface Visiting {
  readonly scope: Readonly<Scope>;
  readonly deps: Dependencies;
  readonly ctx: Context;
}

const brokenReason = 'SecretBroken';

function authorityRoot(scope: Scope, where: AuthoritySecret, ctx: Context): Root<KeyPair> {
  const { tcp } = scope;
  const profile = authorityProfiles[where.authority];
  const recorded = where.authority === 'ca' ? tcp.status?.certificates?.ca : tcp.status?.certificates?.frontProxyCA;
  return {
    secretName: where.name,
    component: where.component,
    known: recorded?.checksum !== undefined,
    read(data) {
      const judged = where.copies.map((copy) => {
        const value = { certificate: data[copy.certificate] ?? '', key: data[copy.key] ?? '' };
        // Any subject will do: the author may bring an authority of their own.
        const expected = { profile: { ...profile, dnsNames: [] }, now: ctx.now, thresholdMs: 0 };
        const verdict = judge(value, expected);
        const tolerated = !verdict.keep && verdict.reason === 'WrongSubject';
        return { value, verdict: tolerated ? ({ keep: true } as const) : verdict };
      });
      const [first] = judged;
      if (first === undefined) throw new Error(`the Secret ${where.name} is said to hold no authority`);
      return judged.find(({ verdict }) => verdict.keep) ?? first;
    },
    make: () =>
      issueCa(profile, {
        algorithm: tcp.spec.kubernetes.encryptionAlgorithm ?? 'ECDSA-P256',
        lifetime: lifetimeFrom(ctx.now, caValidityMs),
      }),
    manifest: (pair, rotated) => authoritySecret(tcp, where, { pair, rotated }),
    data: (pair) => authorityData(where, pair),
  };
}

function serviceAccountRoot(tcp: TenantControlPlane): Root<ServiceAccountKeys> {
  const keys = dataKeys.serviceAccount;
  return {
    secretName: tenantObjects(tcp.metadata.name ?? '').serviceAccount,
    component: 'service-account',
    known: tcp.status?.certificates?.sa?.checksum !== undefined,
    read(data) {
      const value = { publicKey: data[keys.publicKey] ?? '', privateKey: data[keys.key] ?? '' };
      return { value, verdict: judgeServiceAccountKeys(value) };
    },
    make: () => issueServiceAccountKeys(tcp.spec.kubernetes.encryptionAlgorithm ?? 'ECDSA-P256'),
    manifest: (value, rotated) => serviceAccountSecret(tcp, { keys: value, rotated }),
    data: serviceAccountData,
  };
}

function broken(root: Root<unknown>, what: string): TerminalError {
  return new TerminalError(
    brokenReason,
    `Secret ${root.secretName} ${what}: restore it from a backup; or, knowing that every worker must join again and every token and kubeconfig ends, let it be made anew by creating it with the empty annotation ${annotations.rotate}`,
  );
}

/** The root as the cluster has it, or a new one that is safely stored: never two of one tenant. */
async function keep<T>(root: Root<T>, current: Secret | undefined, visit: Visiting): Promise<Kept<T>> {
  const { deps, ctx } = visit;
  if (current === undefined) {
    if (root.known) throw broken(root, 'is gone');
    const value = await deps.issuers.run(() => root.make());
    try {
      await deps.cluster.create(kinds.Secret, root.manifest(value, undefined), { fieldManager, signal: ctx.signal });
      return kept(root, value, false);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 409) throw error;
      // It was there without our label, or another process was quicker: the stored one counts.
      const { namespace, name } = root.manifest(value, undefined).metadata;
      const stored = await deps.cluster.get(kinds.Secret, { namespace: namespace ?? '', name }, { signal: ctx.signal });
      if (stored === undefined) throw error;
      return keep(root, stored, visit);
    }
  }
  if (rotationRequested(current)) {
    const value = await deps.issuers.run(() => root.make());
    await deps.apply(visit.scope, root.manifest(value, rotationTime(current, ctx.now)), ctx);
    return kept(root, value, true);
  }
  const { value, verdict } = root.read(secretText(current.data));
  if (!verdict.keep) throw broken(root, `is of no use (${verdict.reason}: ${verdict.message})`);
  await deps.apply(visit.scope, root.manifest(value, rotationTime(current, ctx.now)), ctx);
  return kept(root, value, false);
}

function kept<T>(root: Root<T>, value: T, rotated: boolean): Kept<T> {
  return { value, rotated, fact: { name: root.secretName, checksum: checksum(root.data(value)) } };
}

/**
 * The roots of trust of a tenant: made once, kept for ever. One that was known and is gone or broken is reported and not
 * replaced, because a new one cuts off every worker; the rotation annotation replaces it knowingly.
 */
export async function authorities(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const [caSecret, frontProxySecret] = authoritySecrets(tcp);
  if (caSecret === undefined || frontProxySecret === undefined) throw new Error('two authorities are expected');
  const ofSecret = async <T>(root: Root<T>): Promise<Kept<T>> => {
    const visit = { scope, deps, ctx };
    const key = { namespace: tcp.metadata.namespace ?? '', name: root.secretName };
    const listed = observed.secrets.get(root.secretName);
    // One that lost its label is not listed, and yet not gone.
    const unlisted = listed === undefined && root.known;
    return keep(root, unlisted ? await deps.cluster.get(kinds.Secret, key, { signal: ctx.signal }) : listed, visit);
  };
  const [ca, frontProxyCa, serviceAccount] = await Promise.all([
    ofSecret(authorityRoot(scope, caSecret, ctx)),
    ofSecret(authorityRoot(scope, frontProxySecret, ctx)),
    ofSecret(serviceAccountRoot(tcp)),
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
        ca: ca.value,
        frontProxyCa: frontProxyCa.value,
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
