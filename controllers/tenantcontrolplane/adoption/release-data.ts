import { isDeepStrictEqual } from 'node:util';
import { deleteForMoveAnnotation } from '../../../api/cluster-api/names.ts';
import type { OwnerReference } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import { ownerReferenceOf } from '../../../api/meta.ts';
import { hasData } from '../../../api/steward/v1alpha1/data-owner.ts';
import { hasAdopted } from '../../../api/steward/v1alpha1/has-adopted.ts';
import { formerKey, retainedControlPlane, retainedKey } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import type { RetainedControlPlane } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import { controllerUid, ownerPatch, passedOn } from './retained-objects.ts';
import { retainedManifest, retainedSpec } from './retained-record.ts';

/** What the release waits for. A watch reports changes of the RetainedControlPlane. */
export interface ReleaseWaits {
  readonly reason: 'RetainingData' | 'ReleasingData';
  readonly message: string;
  readonly afterMs?: number;
}

interface Means {
  readonly deps: Pick<Dependencies, 'addons' | 'cluster'>;
  readonly ctx: Context;
}

/** The delay until a refused record is written again, in milliseconds: no watch reports what the API server permits. */
const refusedMs = 10_000;

/** The most records of one namespace: they count against no quota of that namespace, and only administrators delete them. */
export const mostRecords = 20;

/** True while the deletion of a TenantControlPlane leaves its data to a RetainedControlPlane. */
export function retainsData(tcp: TenantControlPlane): boolean {
  const { [annotations.deletionPolicy]: policy, [annotations.abandonData]: abandon } = tcp.metadata.annotations ?? {};
  const isMoved = tcp.metadata.annotations?.[deleteForMoveAnnotation] !== undefined;
  return policy === 'Retain' && abandon !== 'true' && !isMoved && hasData(tcp);
}

/**
 * Releases data, Service, CAs and keys of a TenantControlPlane with the policy `Retain` to its RetainedControlPlane: `done`
 * once that has everything, and undefined if the TenantControlPlane is responsible for its data itself. Nothing is released
 * before the record exists: from then on, the RetainedControlPlane removes the data. The policy counts until the
 * TenantControlPlane is gone: one that does not retain its data after all takes back what it has released, and the record
 * is deleted first. Otherwise the next TenantControlPlane would adopt what was to be left or removed.
 */
export async function releaseData(
  tcp: TenantControlPlane,
  deps: Pick<Dependencies, 'addons' | 'cluster'>,
  ctx: Context,
): Promise<'done' | ReleaseWaits | undefined> {
  const means = { deps, ctx };
  const found = await deps.cluster.get(retainedControlPlane, retainedKey(tcp), { signal: ctx.signal });
  if (retainsData(tcp)) return retain(tcp, found, means);
  if (found === undefined) return undefined;
  if (found.spec.formerUID === tcp.metadata.uid || hasAdopted(found, tcp)) return takeBack(tcp, found, means);
  // It may own objects of its predecessor but has recorded no data yet: the retained record still counts.
  if (found.spec.adopterUID === tcp.metadata.uid) await passOn(tcp, found, means);
  return undefined;
}

async function retain(
  tcp: TenantControlPlane,
  found: RetainedControlPlane | undefined,
  means: Means,
): Promise<'done' | ReleaseWaits> {
  const { uid } = tcp.metadata;
  const { name } = retainedKey(tcp);
  if (found !== undefined && found.spec.formerUID !== uid && !hasAdopted(found, tcp)) {
    const message = `RetainedControlPlane ${name} retains other data: delete it, which removes that data, or set an annotation here: ${annotations.deletionPolicy} to "Delete", which removes this data, or ${annotations.abandonData} to "true", which leaves it in the datastore`;
    return { reason: 'RetainingData', message };
  }
  if (found?.metadata.deletionTimestamp !== undefined && hasAdopted(found, tcp)) {
    const message = `waiting for RetainedControlPlane ${name}, whose data was adopted, to be deleted`;
    return { reason: 'RetainingData', message };
  }
  let recorded = found !== undefined;
  try {
    if (found === undefined && (await recordsBeside(tcp, means)) >= mostRecords) {
      const message = `namespace ${tcp.metadata.namespace} has ${mostRecords} RetainedControlPlanes, and no more are created: ask the operator to delete those whose data is no longer needed, or set the annotation ${annotations.deletionPolicy} to "Delete" to have the data removed`;
      return { reason: 'RetainingData', message, afterMs: refusedMs };
    }
    const retained = await record(tcp, found, means);
    recorded = true;
    await passOn(tcp, retained, means);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 409 || error.code >= 500) throw error;
    const why = error.code === 404 && !recorded ? 'the CRD of RetainedControlPlane is not installed' : error.message;
    const message = `the data cannot be retained: ${why}. Fix this, or set the annotation ${annotations.deletionPolicy} to "Delete" to have the data removed`;
    return { reason: 'RetainingData', message, afterMs: refusedMs };
  }
  means.ctx.event('Normal', 'DataRetained', `the data is retained in RetainedControlPlane ${name}`);
  return 'done';
}

/** The number of records of the same namespace. */
async function recordsBeside({ metadata }: TenantControlPlane, { deps, ctx: { signal } }: Means): Promise<number> {
  const { items } = await deps.cluster.list(retainedControlPlane, { signal });
  return items.filter((retained) => formerKey(retained).namespace === metadata.namespace).length;
}

/** The record of this TenantControlPlane, which replaces the one that it has adopted. */
async function record(
  tcp: TenantControlPlane,
  found: RetainedControlPlane | undefined,
  { deps: { cluster }, ctx: { signal } }: Means,
): Promise<RetainedControlPlane> {
  const options = { fieldManager, signal };
  if (found === undefined) return cluster.create(retainedControlPlane, retainedManifest(tcp), options);
  const wanted = retainedSpec(tcp);
  if (isDeepStrictEqual({ ...found.spec }, { ...wanted })) return found;
  const { resourceVersion } = found.metadata;
  const body = { metadata: { resourceVersion }, spec: { controllerUID: null, ...wanted, adopterUID: null } };
  return cluster.patch(retainedControlPlane, retainedKey(tcp), { type: 'merge', body }, options);
}

/** Reverts a release: the objects are deleted with this TenantControlPlane, which is responsible for the data again. */
async function takeBack(tcp: TenantControlPlane, found: RetainedControlPlane, means: Means): Promise<ReleaseWaits> {
  const { deps, ctx } = means;
  const { uid: from, resourceVersion, deletionTimestamp } = found.metadata;
  const { uid } = tcp.metadata;
  await changeOwner(tcp, { from, next: ownerReferenceOf(tcp) }, means);
  if (found.spec.adopterUID !== uid) {
    const body = { metadata: { resourceVersion }, spec: { adopterUID: uid } };
    const options = { fieldManager, signal: ctx.signal };
    await deps.cluster.patch(retainedControlPlane, retainedKey(tcp), { type: 'merge', body }, options);
  }
  if (deletionTimestamp === undefined) {
    await deps.cluster.delete(retainedControlPlane, retainedKey(tcp), { uid: from, signal: ctx.signal });
  }
  const message = `waiting for RetainedControlPlane ${retainedKey(tcp).name} to be deleted, because the annotations of this TenantControlPlane say that its data is not to be retained after all`;
  return { reason: 'ReleasingData', message };
}

/** Makes the RetainedControlPlane the owner, so that garbage collection keeps the objects until it is deleted, too. */
function passOn(tcp: TenantControlPlane, retained: RetainedControlPlane, means: Means): Promise<void> {
  const next = { ...ownerReferenceOf(retained), blockOwnerDeletion: false };
  return changeOwner(tcp, { from: tcp.metadata.uid, next }, means);
}

async function changeOwner(
  tcp: TenantControlPlane,
  { from, next }: { readonly from: string; readonly next: OwnerReference },
  { deps, ctx: { signal } }: Means,
): Promise<void> {
  const { namespace } = tcp.metadata;
  await Promise.all(
    passedOn(tcp, deps.addons).map(async ({ kind, name }) => {
      const object = await deps.cluster.get(kind, { namespace, name }, { signal });
      if (object === undefined || controllerUid(object) !== from) return;
      await deps.cluster.patch(kind, { namespace, name }, ownerPatch(object, from, next), { signal });
    }),
  );
}
