import { suppliedKeys } from '../../../api/cluster-api/supplied-secrets.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { annotations, dataKeys } from '../../../api/names.ts';
import type { Outcome, Phase } from '../../../runtime/reconcile/phases.ts';
import type { ClusterSecretsInput } from './cluster-secrets.ts';
import type { Standing } from './cluster-secrets.ts';
import {
  clusterSecretNames,
  clusterSecrets,
  isTenantsSecret,
  isTrustedBy,
  placeOf,
  standingOf,
} from './cluster-secrets.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import type { FoundHost } from '../hosting/find-host.ts';
import { followerOf } from '../infrastructure/follower.ts';
import type { Scope } from '../scope.ts';
import { unusedSupplied, unusedText } from './unused-supplied-phase.ts';

/** Writes the kubeconfig and the CA where Cluster API reads them. */
export function secretsPhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'secrets',
    condition: 'KubeadmResourcesCreated',
    needs: ['address'],
    async run(scope, ctx) {
      const found = await readSecrets(deps, scope, ctx.signal);
      const names = {
        scp: scope.scp,
        cluster: scope.cluster.metadata.name,
        tenant: scope.tenant?.metadata.name ?? '',
      };
      const { ca } = clusterSecretNames(names.cluster);
      const caIsTenants = isTenantsByName(scope, ca) || isTenantsSecret(found.present.get(ca), names.tenant);
      const supplied: string[] = [];
      for (const [name, secret] of found.present) {
        if (name === ca && caIsTenants) continue;
        const standing = standingOf(secret, { ...names, ...(name === ca ? placeOf.ca : placeOf.kubeconfig) });
        if (standing.is === 'taken') return blockedBy(deps, scope, [name], takenBy(name, standing));
        if (standing.is === 'supplied') supplied.push(name);
      }
      const source = sourceOf(scope, found);
      if ('missing' in source) {
        const message = `the TenantControlPlane has not published its ${source.missing} yet`;
        return { is: 'waiting', reason: 'Pending', message: `${message}${errorOf(scope)}` };
      }
      const isOther = supplied.includes(ca) && isForeign(found.present.get(ca), source.ca.certificate);
      // The Secrets are not reported before workers may join; a kubeconfig in use must stay current.
      if (isOther && scope.scp.status?.initialization?.controlPlaneInitialized !== true)
        return blockedBy(deps, scope, [ca], otherAuthority(ca, scope));
      const manifests = clusterSecrets({ ...names, ...source, caIsTenants, supplied });
      const options = { fieldManager, signal: ctx.signal };
      await Promise.all(manifests.map((manifest) => deps.cluster.apply(kinds.Secret, manifest, options)));
      if (isOther) return blockedBy(deps, scope, [ca], otherAuthority(ca, scope));
      follow(deps, scope, supplied);
      const suppliedTexts = supplied.map(
        (name) => `Secret ${name} was supplied by the user and is left alone, even when it expires`,
      );
      const message = [...suppliedTexts, ...found.unused.map(unusedText)].join('; ');
      return { is: 'done', learned: { secretsWritten: true }, message };
    },
  };
}

/**
 * Whether the tenant beside it has its own CA under this name. While a TenantControlPlane releases its data, that is owned by the
 * StewardControlPlane, and the tenant's all the same.
 */
function isTenantsByName({ host, tenant }: Scope, ca: string): boolean {
  return host === undefined && tenant?.status?.certificates?.ca?.secretName === ca;
}

/** Whether workers that trust the certificate in this Secret would not trust the tenant. */
function isForeign(secret: Secret | undefined, trusted: string): boolean {
  const given = secret?.data?.[suppliedKeys.certificate];
  return given !== undefined && !isTrustedBy(given, trusted);
}

/** Why the TenantControlPlane is not ready, as it reports it, so that the reason is shown here too. */
function errorOf({ tenant }: Scope): string {
  const ready = tenant?.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status !== 'False' || ready.message === '' ? '' : `: ${ready.message}`;
}

/** The poll interval for a conflicting Secret that no watch reports. */
const lookAgainMs = 10_000;

const keyOf = ({ scp: { metadata } }: Scope) => ({ namespace: metadata.namespace, name: metadata.name });

/** From now on changes of these Secrets, which need not be owned by Steward, enqueue the control plane. */
function follow(deps: Dependencies, scope: Scope, names: readonly string[]): void {
  const key = keyOf(scope);
  deps.blockers.follow(
    followerOf(scope.scp),
    names.map((name) => ({ kind: kinds.Secret, namespace: key.namespace, fieldSelector: `metadata.name=${name}` })),
  );
}

/** Waits for a change of the Secrets in the way. */
function blockedBy(
  deps: Dependencies,
  scope: Scope,
  names: readonly string[],
  outcome: Outcome<Scope>,
): Outcome<Scope> {
  follow(deps, scope, names);
  return deps.blockers.isUnwatched(followerOf(scope.scp)) ? { ...outcome, afterMs: lookAgainMs } : outcome;
}

function takenBy(name: string, { why, remedy }: Extract<Standing, { is: 'taken' }>): Outcome<Scope> {
  const message = `Cluster API reads Secret ${name}, but the existing one does not belong to this Cluster (${why}): ${remedy}`;
  return { is: 'waiting', reason: 'OwnedByAnother', message };
}

function otherAuthority(name: string, { tenant }: Scope): Outcome<Scope> {
  const source = tenant?.status?.certificates?.ca?.secretName ?? '';
  const message = `Secret ${name} was supplied by the user with a CA that is not the CA of the control plane or, since a rotation, no longer its only one, so workers that trust only this CA could not join: delete it to have it recreated, or copy the tls.crt of Secret ${source} into it`;
  return { is: 'waiting', reason: 'CAMismatch', message };
}

interface Found {
  readonly admin: Secret | undefined;
  readonly authority: Secret | undefined;
  /** The existing objects with the names of the Cluster's Secrets. */
  readonly present: ReadonlyMap<string, Secret | undefined>;
  /** Names of Secrets that were supplied and that the control plane does not use. */
  readonly unused: readonly string[];
}

async function readSecrets(
  deps: Dependencies,
  { scp, cluster, tenant, host }: Scope,
  signal: AbortSignal,
): Promise<Found> {
  const { kubeconfig: kubeconfigs, certificates } = tenant?.status ?? {};
  const namespace = scp.metadata.namespace;
  const here = { cluster: deps.cluster, namespace };
  const read = async (
    name: string | undefined,
    from: Pick<FoundHost, 'namespace'> & Pick<Dependencies, 'cluster'> = here,
  ) =>
    name === undefined ? undefined : from.cluster.get(kinds.Secret, { namespace: from.namespace, name }, { signal });
  const { name } = cluster.metadata;
  const names = clusterSecretNames(name);
  // Most Clusters have none: they are not read at every reconcile.
  const readLabeled = async (of: string): Promise<Secret | undefined> =>
    (await deps.isLabeled?.({ namespace, name: of })) === true ? read(of) : undefined;
  const readTenants = (of: string | undefined): Promise<Secret | undefined> => read(of, host);
  const [admin, authority, kubeconfig, ca, unused] = await Promise.all([
    read(kubeconfigs?.admin?.secretName, host),
    read(certificates?.ca?.secretName, host),
    read(names.kubeconfig),
    read(names.ca),
    unusedSupplied({ cluster: name, tenant, read: readLabeled, readTenants }),
  ]);
  const present = new Map([
    [names.kubeconfig, kubeconfig],
    [names.ca, ca],
  ]);
  return { admin, authority, present, unused };
}

type Source = Pick<ClusterSecretsInput, 'kubeconfig' | 'ca'> | { readonly missing: string };

/** What the TenantControlPlane published. */
function sourceOf({ scp, host }: Scope, { admin, authority }: Found): Source {
  const { admin: outside, adminService: inside } = dataKeys.adminKubeconfig;
  // Who manages the Cluster is near the Service, and may not reach what is advertised; a Service of another cluster is not near.
  const isNear = host === undefined && (scp.spec.network.advertiseAddress ?? '') !== '';
  const usual = isNear ? inside : outside;
  const key = scp.metadata.annotations?.[annotations.kubeconfigSecretKey] ?? usual;
  const kubeconfig = admin?.data?.[key];
  if (kubeconfig === undefined) return { missing: `kubeconfig (key ${key})` };
  const { ca: keys } = dataKeys;
  // While CAs are rotated, joining machines must trust all of them.
  const certificate = authority?.data?.[keys.bundle] ?? authority?.data?.[keys.certificate];
  const caKey = authority?.data?.[keys.key];
  if (certificate === undefined || caKey === undefined) return { missing: 'CA' };
  return { kubeconfig, ca: { certificate, key: caKey } };
}
