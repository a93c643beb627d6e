import { clusterSecretType } from '../../../api/cluster-api/names.ts';
import { isSuppliedFor, suppliedSecretName, suppliedSecretTypes } from '../../../api/cluster-api/supplied-secrets.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Context } from '../../../runtime/controller.ts';
import { ApiError, RetryError } from '../../../runtime/errors.ts';
import { suppliedRoot } from '../components/supplied-root.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import type { Root } from './authority-roots.ts';
import type { SuppliedRoots } from './supplied-roots.ts';

/** What keeping a root acts through. */
export interface Visiting {
  readonly scope: Readonly<Scope>;
  readonly deps: Dependencies;
  readonly ctx: Context;
  readonly supplied: SuppliedRoots;
}

/** How soon a Secret of somebody else, of which no watch tells, is looked at again, in milliseconds. */
export const lookAgainMs = 10_000;

/** The type of a Secret of Cluster API, which nobody can change once it is there; undefined for one that is Opaque. */
export function clusterTypeOf({ type }: Secret): string | undefined {
  return type !== undefined && suppliedSecretTypes.includes(type) ? type : undefined;
}

/**
 * Stores a root for the first time: as its author supplied it, or one that is made now. Returns the Secret instead when there is one
 * already, and whether that was supplied there: of one it is to be told once it is the tenant's. Throws `RetryError` when it is of
 * somebody else.
 */
export async function storeFirst<T>(
  root: Root<T>,
  visit: Visiting,
): Promise<{ readonly value: T } | { readonly stored: Secret; readonly isSupplied: boolean }> {
  const { scope, deps, ctx, supplied } = visit;
  const { cluster = '', pairs } = supplied;
  const pair = pairs.get(root.purpose);
  const value = pair === undefined ? await deps.issuers.run(() => root.make({})) : root.of(pair);
  const source = suppliedSecretName(cluster, root.purpose);
  // Where Cluster API reads this very Secret, it is of Cluster API's type from the beginning.
  const isClusters = cluster !== '' && root.secretName === source;
  const manifest = root.manifest(value, isClusters ? { type: clusterSecretType } : {});
  try {
    await deps.cluster.create(kinds.Secret, manifest, { fieldManager, signal: ctx.signal });
    if (pair !== undefined) tellSupplied(root, visit);
    return { value };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 409) throw error;
    // It was there without our label, or another process was quicker: the stored one counts.
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

/** Tells that a root is what its author supplied. */
export function tellSupplied<T>(
  { secretName, purpose }: Root<T>,
  { ctx, supplied }: Pick<Visiting, 'ctx' | 'supplied'>,
): void {
  const source = suppliedSecretName(supplied.cluster ?? '', purpose);
  ctx.event('Normal', 'AuthoritySupplied', `Secret ${secretName} holds what was supplied in Secret ${source}`);
}

/**
 * A Secret of Cluster API's type may be that of another Cluster, whose authority is nobody else's. Of an Opaque one its author says by
 * the name alone that it is for this tenant.
 */
function isOwnOrOpaque(stored: Secret, { tcp }: Readonly<Scope>): boolean {
  const isOwn = stored.metadata.ownerReferences?.some(({ uid }) => uid === tcp.metadata.uid) ?? false;
  return isOwn || clusterTypeOf(stored) === undefined;
}

function inTheWay({ metadata: { name = '' }, type = 'Opaque' }: Secret): RetryError {
  const message = `Secret ${name} is of type ${type} and was not supplied for this control plane: delete it, or give the TenantControlPlane another name`;
  return new RetryError('SecretInTheWay', message, lookAgainMs);
}
