import { clusterSecretType } from '../../../api/cluster-api/names.ts';
import { isSuppliedFor, suppliedSecretName, suppliedSecretTypes } from '../../../api/cluster-api/supplied-secrets.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { ApiError, RetryError } from '../../../runtime/client/errors.ts';
import { suppliedRoot } from './user-supplied-ca.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import type { Root } from './ca-pairs.ts';
import type { SuppliedRoots } from './user-supplied-cas.ts';

/** What keeping a root acts through. */
export interface CaRun {
  readonly scope: Readonly<Scope>;
  readonly deps: Dependencies;
  readonly ctx: Context;
  readonly supplied: SuppliedRoots;
}

/** How soon another owner's Secret, which no watch reports, is read again, in milliseconds. */
export const lookAgainMs = 10_000;

/** The type of a Secret for Cluster API, which cannot change after creation; undefined for an Opaque one. */
export function clusterTypeOf({ type }: Secret): string | undefined {
  return type !== undefined && suppliedSecretTypes.includes(type) ? type : undefined;
}

/**
 * Stores a root for the first time: the user-supplied one, or a new one. If the Secret already exists, it returns that instead,
 * and whether it was user-supplied: such a Secret is reported once it belongs to the tenant. Throws `RetryError` when it belongs
 * to another owner.
 */
export async function storeFirst<T>(
  root: Root<T>,
  run: CaRun,
): Promise<{ readonly value: T } | { readonly stored: Secret; readonly isSupplied: boolean }> {
  const { scope, deps, ctx, supplied } = run;
  const { cluster = '', pairs } = supplied;
  const pair = pairs.get(root.purpose);
  const value = pair === undefined ? await deps.issuers.run(() => root.make({})) : root.of(pair);
  const source = suppliedSecretName(cluster, root.purpose);
  // Where Cluster API reads this very Secret, it has Cluster API's type from the start.
  const isClusters = cluster !== '' && root.secretName === source;
  const manifest = root.manifest(value, isClusters ? { type: clusterSecretType } : {});
  try {
    await deps.cluster.create(kinds.Secret, manifest, { fieldManager, signal: ctx.signal });
    if (pair !== undefined) reportSupplied(root, run);
    return { value };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 409) throw error;
    // It existed without our label, or another process was faster: the stored one counts.
    const { namespace = '', name } = manifest.metadata;
    const stored = await deps.cluster.get(kinds.Secret, { namespace, name }, { signal: ctx.signal });
    if (stored === undefined) throw error;
    const isSupplied = isClusters && isSuppliedFor(stored, cluster);
    const as = { cluster, purpose: root.purpose, now: ctx.now, isInPlace: true };
    const isFit = isSupplied && suppliedRoot(stored, as).is === 'fit';
    if (!isFit && !isOwnOrOpaque(stored, scope)) throw inTheWay(stored);
    return { stored, isSupplied };
  }
}

/** Reports that a root is user-supplied. */
export function reportSupplied<T>(
  { secretName, purpose }: Root<T>,
  { ctx, supplied }: Pick<CaRun, 'ctx' | 'supplied'>,
): void {
  const source = suppliedSecretName(supplied.cluster ?? '', purpose);
  ctx.event('Normal', 'SuppliedCAUsed', `Secret ${secretName} holds the key pair supplied in Secret ${source}`);
}

/**
 * A Secret of Cluster API's type may hold the CA of another Cluster, which must not be shared. An Opaque one is meant for this
 * tenant by its name alone.
 */
function isOwnOrOpaque(stored: Secret, { tcp }: Readonly<Scope>): boolean {
  const isOwn = stored.metadata.ownerReferences?.some(({ uid }) => uid === tcp.metadata.uid) ?? false;
  return isOwn || clusterTypeOf(stored) === undefined;
}

function inTheWay({ metadata: { name }, type = 'Opaque' }: Secret): RetryError {
  const message = `Secret ${name} is of type ${type} and was not supplied for this control plane: delete it, or use another name for the TenantControlPlane`;
  return new RetryError('SecretInTheWay', message, lookAgainMs);
}
