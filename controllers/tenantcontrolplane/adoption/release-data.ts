import { deleteForMoveAnnotation } from '../../../api/cluster-api/names.ts';
import { keepsDataOf } from '../../../api/controlplane/keeps-data-of.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { OwnerReference } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import { ownerReferenceOf } from '../../../api/owner-reference.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { controllerUid, ownerPatch, passedOn } from './retained-objects.ts';
import type { Dependencies } from '../dependencies.ts';
import { findOwner } from './find-owner.ts';

/** The outcome: `done`, or what is waited for. */
export type ReleaseOutcome =
  'done' | { readonly reason: 'RetainingData' | 'ReleasingData'; readonly message: string; readonly afterMs: number };

/** Until the StewardControlPlane is read again, in milliseconds: no watch reports it here. */
const askAgainMs = 500;

/** True for an adopter that may own objects of its predecessor but has recorded no data yet: the retained record still counts. */
function isAdopterWithoutShare({ metadata, status }: TenantControlPlane, retainer: StewardControlPlane): boolean {
  return retainer.status?.keptTenancy?.heirUID === metadata.uid && status?.storage?.setup?.schema === undefined;
}

/** True when the data is to be left behind or removed in any case: an annotation says so, or another cluster already uses it. */
function isReleasing({ metadata, status }: TenantControlPlane): boolean {
  const marks = metadata.annotations ?? {};
  if (status?.storage?.setup?.schema === undefined) return true;
  return marks[annotations.abandonData] === 'true' || marks[deleteForMoveAnnotation] !== undefined;
}

/** True when the StewardControlPlane may have read the request to retain the data. */
function hasAsked({ status }: TenantControlPlane): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'Deleting' && reason === 'RetainingData') === true;
}

/**
 * Releases data, address, CAs and keys of a TenantControlPlane that is deleted on its own to its StewardControlPlane, which
 * creates another one. Undefined when nothing retains them. Nothing is released before the StewardControlPlane has recorded what
 * it retains: from then on, the StewardControlPlane is the one that removes the data. If an annotation asks to leave or remove
 * the data, that record is dropped first: otherwise the next TenantControlPlane would adopt what was left, or the
 * StewardControlPlane would finally remove it.
 */
export async function releaseData(
  tcp: TenantControlPlane,
  deps: Pick<Dependencies, 'addons' | 'cluster'>,
  ctx: Context,
): Promise<ReleaseOutcome | undefined> {
  const retainer = await findOwner(tcp, deps, ctx);
  if (retainer === undefined || retainer.spec.deployment?.externalClusterReference !== undefined) return undefined;
  if (isReleasing(tcp) && keepsDataOf(retainer, tcp)) {
    await takeBack(tcp, retainer, { deps, ctx });
    return lettingGo(retainer);
  }
  if (retainer.metadata.deletionTimestamp !== undefined) return undefined;
  if (isAdopterWithoutShare(tcp, retainer)) {
    await passOn(tcp, retainer, { deps, ctx });
    return undefined;
  }
  // The StewardControlPlane may be about to record what was requested.
  if (isReleasing(tcp)) return hasAsked(tcp) ? lettingGo(retainer) : undefined;
  const { name = '', uid } = retainer.metadata;
  if (retainer.status?.keptTenancy?.formerUID !== tcp.metadata.uid || !hasAsked(tcp)) {
    const message = `waiting for StewardControlPlane ${name}, which is not being deleted, to record that it retains the data; to have the data removed, delete that StewardControlPlane or the Cluster`;
    return { reason: 'RetainingData', message, afterMs: askAgainMs };
  }
  await passOn(tcp, retainer, { deps, ctx });
  const message = `the data is retained for the next TenantControlPlane that StewardControlPlane ${name} (uid ${uid ?? ''}) creates`;
  ctx.event('Normal', 'DataKept', message);
  return 'done';
}

function lettingGo({ metadata: { name = '' } }: StewardControlPlane): ReleaseOutcome {
  const message = `waiting for StewardControlPlane ${name} to drop its record of the data, which an annotation of this TenantControlPlane releases; if that StewardControlPlane is paused, unpause it`;
  return { reason: 'ReleasingData', message, afterMs: askAgainMs };
}

interface Means {
  readonly deps: Pick<Dependencies, 'addons' | 'cluster'>;
  readonly ctx: Context;
}

/** Makes the StewardControlPlane the owner, so that garbage collection keeps the objects until it is deleted, too. */
function passOn(tcp: TenantControlPlane, retainer: StewardControlPlane, means: Means): Promise<void> {
  const next = { ...ownerReferenceOf(retainer), blockOwnerDeletion: false };
  return changeOwner(tcp, { from: tcp.metadata.uid ?? '', next }, means);
}

/** Reverts a release: the objects are deleted with this TenantControlPlane. */
function takeBack(tcp: TenantControlPlane, retainer: StewardControlPlane, means: Means): Promise<void> {
  return changeOwner(tcp, { from: retainer.metadata.uid ?? '', next: ownerReferenceOf(tcp) }, means);
}

async function changeOwner(
  tcp: TenantControlPlane,
  { from, next }: { readonly from: string; readonly next: OwnerReference },
  { deps, ctx: { signal } }: Means,
): Promise<void> {
  const { namespace = '' } = tcp.metadata;
  await Promise.all(
    passedOn(tcp, deps.addons).map(async ({ kind, name }) => {
      const object = await deps.cluster.get(kind, { namespace, name }, { signal });
      if (object === undefined || controllerUid(object) !== from) return;
      await deps.cluster.patch(kind, { namespace, name }, ownerPatch(object, from, next), { signal });
    }),
  );
}
