import type { SuppliedPurpose } from '../../../api/cluster-api/supplied-secrets.ts';
import type { Manifest } from '../../../api/meta.ts';
import type { RotationStep, RotationSubject } from '../../../api/steward/v1alpha1/credentials-rotation.ts';
import { annotations, dataKeys, tenantObjects } from '../../../api/names.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { issueCa, issueServiceAccountKeys } from '../../../kubeadm/pki/issue.ts';
import { evaluateServiceAccountKeys } from '../../../kubeadm/pki/evaluate.ts';
import type { KeyPair, Verdict } from '../../../kubeadm/pki/key-pair.ts';
import { caValidityMs, lifetimeFrom } from '../../../kubeadm/pki/lifetime.ts';
import { authorityProfiles } from '../../../kubeadm/pki/profiles.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { TerminalError } from '../../../runtime/client/errors.ts';
import { authoritySecret, serviceAccountSecret } from './ca-manifests.ts';
import type { AuthoritySecret } from './ca-secrets.ts';
import { evaluateAuthority, storedPair } from './rotation/evaluate-ca.ts';
import { authorityAt, authorityData, offeredPair, readAuthority } from './rotation/rotating-ca.ts';
import type { RotatingAuthority } from './rotation/rotating-ca.ts';
import { keysAt, keysData, keysWithNext, offeredKey, readKeys } from './rotation/rotating-keys.ts';
import type { RotatingKeys } from './rotation/rotating-keys.ts';
import type { Scope } from '../scope.ts';
import { notYetValid } from './not-yet-valid.ts';

type Data = Readonly<Record<string, string>>;

/** How one of the tenant's roots of trust is read, generated, kept and rotated. */
export interface Root<T> {
  readonly secretName: string;
  readonly subject: RotationSubject;
  /** The purpose in the name of a user-supplied Secret. */
  readonly purpose: SuppliedPurpose;
  /** True when it existed before: then it is never silently generated again. */
  readonly known: boolean;
  /** The value in a Secret with the verdict about it; `preparing` is the step of the preparation that is under way. */
  read(data: Data, preparing: RotationStep | undefined): { readonly value: T; readonly verdict: Verdict };
  /** A new one that replaces the content of the Secret: nothing of that is trusted anymore. */
  make(before: Data): Promise<T>;
  /** The value with its successor: the one that a user put beside it, otherwise a new one. */
  withNext(value: T, data: Data): Promise<T>;
  /** The value at a step of its rotation. */
  at(value: T, step: RotationStep | undefined): T;
  /** The value of a user-supplied pair; for token keys, the certificate is the public half. */
  of(pair: KeyPair): T;
  /** The Secret; of type Opaque by default. */
  manifest(value: T, about: { readonly rotated?: string | undefined; readonly type?: string | undefined }): Manifest;
  data(value: T): Data;
}

/** The error for a Secret with unusable content, or for one that is missing when there is no verdict; with what to do. */
export function broken(
  secretName: string,
  verdict?: { readonly reason: string; readonly message: string },
): TerminalError {
  const what = verdict === undefined ? 'is missing' : `cannot be used (${verdict.reason}: ${verdict.message})`;
  const create = verdict === undefined ? 'create it' : 'delete it and create it again';
  return new TerminalError(
    'SecretBroken',
    `Secret ${secretName} ${what}: restore it from a backup; or ${create} with only the empty annotation ${annotations.rotate} to have a new one generated, after which every worker must join again and every token and kubeconfig stops working`,
  );
}

function badNext(secretName: string, keys: string, verdict: { readonly message: string }): TerminalError {
  const message = `Secret ${secretName} cannot be rotated to ${keys} (${verdict.message}): replace that pair with a usable one, or remove it to have one generated`;
  return new TerminalError('SecretBroken', message);
}

/** The root of one of the CAs. */
export function authorityRoot(scope: Scope, where: AuthoritySecret, ctx: Context): Root<RotatingAuthority> {
  const { tcp } = scope;
  const profile = authorityProfiles[where.authority];
  const recorded = where.authority === 'ca' ? tcp.status?.certificates?.ca : tcp.status?.certificates?.frontProxyCA;
  const issue = (): ReturnType<typeof issueCa> =>
    issueCa(profile, {
      algorithm: tcp.spec.kubernetes.encryptionAlgorithm ?? 'ECDSA-P256',
      lifetime: lifetimeFrom(ctx.now, caValidityMs),
    });
  const { nextCertificate, nextKey } = where.keys;
  const checked = (pair: RotatingAuthority['next']): RotatingAuthority['next'] => {
    const verdict = pair === undefined ? undefined : evaluateAuthority(where, pair, ctx.now);
    if (verdict?.keep === false)
      throw notYetValid(where.name, verdict) ?? badNext(where.name, `${nextCertificate} and ${nextKey}`, verdict);
    return pair;
  };
  return {
    secretName: where.name,
    subject: 'certificateAuthorities',
    purpose: where.authority === 'ca' ? 'ca' : 'proxy',
    known: recorded?.checksum !== undefined,
    read(data, preparing) {
      const { pair, verdict } = storedPair(where, data, ctx.now);
      const isPreparing = preparing !== undefined && verdict.keep;
      const value = readAuthority(where, data, { active: pair, isPreparing });
      checked(value.next);
      return { value, verdict };
    },
    make: async (before) => ({ active: await issue(), bundled: before[where.keys.bundle] !== undefined }),
    withNext: async (value, data) => {
      const offered = checked(offeredPair(where, data, value.active));
      return { active: value.active, next: offered ?? (await issue()), bundled: true };
    },
    at: authorityAt,
    of: (pair) => ({ active: pair, bundled: false }),
    manifest: (authority, about) => authoritySecret(tcp, where, { authority, ...about }),
    data: (authority) => authorityData(where, authority),
  };
}

/** The keys of service-account tokens. */
export function serviceAccountRoot({ tcp }: Readonly<Scope>): Root<RotatingKeys> {
  const { serviceAccount: secretName } = tenantObjects(tcp.metadata.name);
  const issue = (): ReturnType<typeof issueServiceAccountKeys> =>
    issueServiceAccountKeys(tcp.spec.kubernetes.encryptionAlgorithm ?? 'ECDSA-P256');
  const usable = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (error instanceof InvalidInputError) throw badNext(secretName, dataKeys.serviceAccount.nextKey, error);
      throw error;
    }
  };
  return {
    secretName,
    subject: 'serviceAccountKey',
    purpose: 'sa',
    known: tcp.status?.certificates?.sa?.checksum !== undefined,
    read(data, preparing) {
      const verdict = evaluateServiceAccountKeys(readKeys(data, undefined));
      return { verdict, value: usable(() => readKeys(data, verdict.keep ? preparing : undefined)) };
    },
    make: issue,
    async withNext(value, data) {
      const next = offeredKey(data) ?? (await issue()).privateKey;
      return usable(() => keysWithNext(value, next));
    },
    at: keysAt,
    of: ({ certificate: publicKey, key: privateKey }) => ({ publicKey, privateKey }),
    manifest: (keys, { rotated }) => serviceAccountSecret(tcp, { keys, rotated }),
    data: keysData,
  };
}
