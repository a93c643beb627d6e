import { randomBytes } from 'node:crypto';
import type { Secret } from '../../../../api/core/kinds.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import { annotations, dataKeys, tenantObjects } from '../../../../api/names.ts';
import { parseCertificates } from '../../../../kubeadm/pki/certificate-chain.ts';
import { issueCa } from '../../../../kubeadm/pki/issue.ts';
import { evaluate } from '../../../../kubeadm/pki/evaluate.ts';
import type { KeyPair, Verdict } from '../../../../kubeadm/pki/key-pair.ts';
import { caValidityMs, lifetimeFrom } from '../../../../kubeadm/pki/lifetime.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import { ApiError, TerminalError } from '../../../../runtime/client/errors.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { notYetValid } from '../../certificates/not-yet-valid.ts';
import { secretText } from '../../shared/secret.ts';
import { osAuthorityProfile, trustdChecksum, trustdData, trustdLeaves, trustdSecret } from './trustd-credentials.ts';
import type { TrustdCredentials } from './trustd-credentials.ts';
import type { Dependencies } from '../../dependencies.ts';
import { fieldManager } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import type { Scope } from '../../scope.ts';
import { ensureKeyPair } from '../../certificates/ensure-key-pair.ts';
import { rotationRequested, rotationTime } from '../../shared/rotate.ts';

type Roots = Pick<TrustdCredentials, 'authority' | 'token'>;
type Data = Readonly<Record<string, string>>;

const keys = dataKeys.trustdCredentials;

const pairOf = (data: Data, at: { readonly certificate: string; readonly key: string }): KeyPair => ({
  certificate: data[at.certificate] ?? '',
  key: data[at.key] ?? '',
});

/** The format that other programs expect: `butler.` and 128 random bits. */
const newToken = (): string => `butler.${randomBytes(16).toString('hex')}`;

async function newRoots({ tcp }: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Roots> {
  const options = { algorithm: 'Ed25519', lifetime: lifetimeFrom(ctx.now, caValidityMs) } as const;
  const authority = await deps.issuers.run(() => issueCa(osAuthorityProfile(tcp), options));
  return { authority, token: newToken() };
}

/** Whether CA and token can be kept: they are in the machine configuration of every worker. */
function evaluateRoots({ tcp }: Readonly<Scope>, data: Data, now: Date): Verdict {
  const profile = osAuthorityProfile(tcp);
  const verdict = evaluate(pairOf(data, keys.authority), { profile, now, thresholdMs: 0, keyTypes: ['ed25519'] });
  // Any subject is accepted: the author may supply a CA of their own.
  if (!verdict.keep && verdict.reason !== 'WrongSubject') return verdict;
  if ((data[keys.token] ?? '') !== '') return { keep: true };
  return { keep: false, reason: 'Missing', message: `there is no ${keys.token}` };
}

function broken(name: string, verdict?: { readonly reason: string; readonly message: string }): TerminalError {
  const what = verdict === undefined ? 'is missing' : `cannot be used (${verdict.reason}: ${verdict.message})`;
  const create = verdict === undefined ? 'create it' : 'delete it and create it again';
  return new TerminalError(
    'SecretBroken',
    `Secret ${name} ${what}: restore it from a backup; or ${create} with only the empty annotation ${annotations.rotate} to have a new one generated, after which every Talos worker needs a new machine configuration`,
  );
}

/** Reads the Secret itself: one that lost its label is not listed, but still exists. */
async function stored(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Secret | undefined> {
  const { namespace, name: tenant } = scope.tcp.metadata;
  const name = tenantObjects(tenant).trustdCredentials;
  const listed = scope.observed.secrets.get(name);
  return listed ?? deps.cluster.get(kinds.Secret, { namespace, name }, { signal: ctx.signal });
}

interface Found {
  readonly roots: Roots;
  /** The other stored values; none when everything is generated again. */
  readonly data: Data;
  readonly isNew: boolean;
}

async function findRoots(
  scope: Readonly<Scope>,
  current: Secret | undefined,
  deps: Dependencies,
  ctx: Context,
): Promise<Found> {
  const name = tenantObjects(scope.tcp.metadata.name).trustdCredentials;
  if (current === undefined) {
    const known = scope.tcp.status?.addons?.workerBootstrap?.credentials?.checksum !== undefined;
    if (known) throw broken(name);
    return { roots: await newRoots(scope, deps, ctx), data: {}, isNew: true };
  }
  if (rotationRequested(current)) {
    ctx.event(
      'Warning',
      'OsAuthorityReplaced',
      `Secret ${name} was regenerated on request: Talos workers need its os-ca.crt and token in their machine configuration`,
    );
    return { roots: await newRoots(scope, deps, ctx), data: {}, isNew: false };
  }
  const data = secretText(current.data);
  const verdict = evaluateRoots(scope, data, ctx.now);
  if (!verdict.keep) throw notYetValid(name, verdict) ?? broken(name, verdict);
  return { roots: { authority: pairOf(data, keys.authority), token: data[keys.token] ?? '' }, data, isNew: false };
}

/** The certificate of the server alone: in the Secret, the certificate of the CA follows it. */
function serverOf(data: Data): KeyPair {
  const { certificate, key } = pairOf(data, keys.server);
  const end = '-----END CERTIFICATE-----\n';
  const at = certificate.indexOf(end);
  return { certificate: at < 0 ? certificate : certificate.slice(0, at + end.length), key };
}

/**
 * The CA, the certificates and the token of trustd. CA and token are generated once; if a known one is missing or broken, it is
 * reported and not replaced, because a new one cuts off the operating system of every worker.
 */
export async function trustdCredentials(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  if (tcp.spec.addons.workerBootstrap?.talos === undefined) return { is: 'done' };
  const name = tenantObjects(tcp.metadata.name).trustdCredentials;
  const current = await stored(scope, deps, ctx);
  const { roots, data, isNew } = await findRoots(scope, current, deps, ctx);
  // While the endpoint changes, workers use the current one, and soon the next one.
  const endpoints = [needed(scope.endpoint, 'endpoint'), needed(scope.target, 'target')];
  const profiles = trustdLeaves(tcp, endpoints, needed(scope.service, 'service'));
  const pair = (what: 'server' | 'admin', stands: KeyPair): ReturnType<typeof ensureKeyPair> =>
    ensureKeyPair(
      {
        profile: profiles[what],
        authority: roots.authority,
        algorithm: 'Ed25519',
        current: stands,
        what: `${keys[what].certificate} of Secret ${name}`,
      },
      deps,
      ctx,
    );
  const [server, admin] = await Promise.all([pair('server', serverOf(data)), pair('admin', pairOf(data, keys.admin))]);
  const credentials = { ...roots, server: server.pair, admin: admin.pair };
  const manifest = trustdSecret(tcp, { credentials, rotated: rotationTime(current, ctx.now) });
  if (isNew) {
    try {
      await deps.cluster.create(kinds.Secret, manifest, { fieldManager, signal: ctx.signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 409) throw error;
      // Another process was faster, and its Secret counts: the next reconcile reads it.
      return { is: 'waiting', reason: 'Rotating', message: `Secret ${name} was created in the meantime`, afterMs: 100 };
    }
  } else await deps.apply(scope, manifest, ctx);
  const [authority] = parseCertificates(roots.authority.certificate, keys.authority.certificate);
  return {
    is: 'done',
    learned: {
      addons: {
        workerBootstrap: {
          credentials: { name, checksum: trustdChecksum(trustdData(credentials)) },
          renewal: Math.min(server.renewal, admin.renewal, authority.validToDate.getTime()),
        },
      },
    },
  };
}
