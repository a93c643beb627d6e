import { deleteForMoveAnnotation } from '../../api/cluster-api/names.ts';
import { keepsDataOf } from '../../api/controlplane/keeps-data-of.ts';
import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { OwnerReference } from '../../api/meta.ts';
import { annotations } from '../../api/names.ts';
import { ownerReferenceOf } from '../../api/owner-reference.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../runtime/controller.ts';
import { controllerUid, ownerPatch, passedOn } from './passed-on.ts';
import type { Dependencies } from './dependencies.ts';
import { keeperOf } from './keeper.ts';

/** What came of it: `done`, or what is waited for. */
export type HandOver =
  'done' | { readonly reason: 'HandingOver' | 'LettingGo'; readonly message: string; readonly afterMs: number };

/** Until the StewardControlPlane is asked again, in milliseconds: nothing here hears of it. */
const askAgainMs = 500;

/** True for one that may have taken over objects of the one before, and has no data on record yet: that of the one before stands. */
function isHeirWithoutShare({ metadata, status }: TenantControlPlane, keeper: StewardControlPlane): boolean {
  return keeper.status?.keptTenancy?.heirUID === metadata.uid && status?.storage?.setup?.schema === undefined;
}

/** True when the data is to be left or removed, whoever stays: somebody says so, or it is in use from another cluster by now. */
function isLetGo({ metadata, status }: TenantControlPlane): boolean {
  const marks = metadata.annotations ?? {};
  if (status?.storage?.setup?.schema === undefined) return true;
  return marks[annotations.abandonData] === 'true' || marks[deleteForMoveAnnotation] !== undefined;
}

/** True when the StewardControlPlane may have read that it is to keep the data. */
function hasAsked({ status }: TenantControlPlane): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'Deleting' && reason === 'HandingOver') === true;
}

/**
 * Leaves data, address, authorities and keys of a TenantControlPlane that is deleted alone to its StewardControlPlane, which makes
 * another one. Undefined when nobody is to keep them. Nothing is passed on before the StewardControlPlane has on record what it
 * keeps: from then on it is who removes the data. One that is let go, until it is gone, is taken off that record first: else the
 * next one would take over what was left, or the StewardControlPlane would remove it in the end.
 */
export async function handOver(
  tcp: TenantControlPlane,
  deps: Pick<Dependencies, 'cluster'>,
  ctx: Context,
): Promise<HandOver | undefined> {
  const keeper = await keeperOf(tcp, deps, ctx);
  if (keeper === undefined || keeper.spec.deployment?.externalClusterReference !== undefined) return undefined;
  if (isLetGo(tcp) && keepsDataOf(keeper, tcp)) {
    await takeBack(tcp, keeper, { deps, ctx });
    return lettingGo(keeper);
  }
  if (keeper.metadata.deletionTimestamp !== undefined) return undefined;
  if (isHeirWithoutShare(tcp, keeper)) {
    await passOn(tcp, keeper, { deps, ctx });
    return undefined;
  }
  // A record may be on its way to what has been asked for.
  if (isLetGo(tcp)) return hasAsked(tcp) ? lettingGo(keeper) : undefined;
  const { name = '', uid } = keeper.metadata;
  if (keeper.status?.keptTenancy?.formerUID !== tcp.metadata.uid || !hasAsked(tcp)) {
    const message = `waits until the StewardControlPlane ${name}, which stays, has on record that it keeps the data; delete that one, or the Cluster, to have the data removed`;
    return { reason: 'HandingOver', message, afterMs: askAgainMs };
  }
  await passOn(tcp, keeper, { deps, ctx });
  const message = `the data stays for the TenantControlPlane that StewardControlPlane ${name} (uid ${uid ?? ''}) makes next`;
  ctx.event('Normal', 'DataKept', message);
  return 'done';
}

function lettingGo({ metadata: { name = '' } }: StewardControlPlane): HandOver {
  const message = `waits until the StewardControlPlane ${name} has nothing of the data on record, which is let go by an annotation of this object; if that one is paused, let it work`;
  return { reason: 'LettingGo', message, afterMs: askAgainMs };
}

interface Means {
  readonly deps: Pick<Dependencies, 'cluster'>;
  readonly ctx: Context;
}

/** Makes the StewardControlPlane the owner, so that garbage collection leaves the objects until that one goes, too. */
function passOn(tcp: TenantControlPlane, keeper: StewardControlPlane, means: Means): Promise<void> {
  const next = { ...ownerReferenceOf(keeper), blockOwnerDeletion: false };
  return changeOwner(tcp, { from: tcp.metadata.uid ?? '', next }, means);
}

/** The opposite: what was passed on goes with this one. */
function takeBack(tcp: TenantControlPlane, keeper: StewardControlPlane, means: Means): Promise<void> {
  return changeOwner(tcp, { from: keeper.metadata.uid ?? '', next: ownerReferenceOf(tcp) }, means);
}

async function changeOwner(
  tcp: TenantControlPlane,
  { from, next }: { readonly from: string; readonly next: OwnerReference },
  { deps, ctx: { signal } }: Means,
): Promise<void> {
  const { namespace = '' } = tcp.metadata;
  await Promise.all(
    passedOn(tcp).map(async ({ kind, name }) => {
      const object = await deps.cluster.get(kind, { namespace, name }, { signal });
      if (object === undefined || controllerUid(object) !== from) return;
      await deps.cluster.patch(kind, { namespace, name }, ownerPatch(object, from, next), { signal });
    }),
  );
}
