import { ownerReferenceOf } from '../../api/meta.ts';
import { labels } from '../../api/names.ts';
import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { controllerOf, isClaimable } from '../../api/steward/v1alpha1/pool/prepared.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { byAge, candidates } from './candidates.ts';
import type { Dependencies } from './dependencies.ts';

const fieldManager = 'steward';

/** True for a control plane that belongs to a claim. */
export function isOf(tcp: TenantControlPlane, claim: ControlPlaneClaim): boolean {
  return controllerOf(tcp) === claim.metadata.uid;
}

/** What belongs to a claim. */
export interface Own {
  readonly tcp: TenantControlPlane;
  /** What another manager has taken for it at the same time. Nobody has used them. */
  readonly surplus: readonly TenantControlPlane[];
}

/** What the API server has of a claim; undefined for nothing. It may have a control plane that its status does not name yet. */
export async function ownControlPlane(
  claim: ControlPlaneClaim,
  { cluster }: Pick<Dependencies, 'cluster'>,
  signal: AbortSignal,
): Promise<Own | undefined> {
  const { namespace, uid } = claim.metadata;
  const labelSelector = `${labels.claimedBy}=${uid}`;
  const { items } = await cluster.list(tenantControlPlane, { namespace, labelSelector, signal });
  const own = items.filter((tcp) => isOf(tcp, claim)).sort(byAge);
  const { tenantControlPlane: name } = claim.status ?? {};
  const named = name === undefined ? own[0] : await namedOne(claim, name, { cluster }, signal);
  if (named === undefined) return undefined;
  return { tcp: named, surplus: own.filter(({ metadata }) => metadata.uid !== named.metadata.uid) };
}

/** By its name, as somebody may have removed the label. */
async function namedOne(
  claim: ControlPlaneClaim,
  name: string,
  { cluster }: Pick<Dependencies, 'cluster'>,
  signal: AbortSignal,
): Promise<TenantControlPlane | undefined> {
  const { namespace } = claim.metadata;
  const found = await cluster.get(tenantControlPlane, { namespace, name }, { signal });
  return found !== undefined && isOf(found, claim) ? found : undefined;
}

/** Deletes what a claim has beside its control plane. */
export async function removeSurplus(
  { surplus }: Own,
  { cluster }: Pick<Dependencies, 'cluster'>,
  signal: AbortSignal,
): Promise<void> {
  for (const { metadata } of surplus) {
    const { namespace, name, uid, deletionTimestamp } = metadata;
    if (deletionTimestamp !== undefined) continue;
    await cluster.delete(tenantControlPlane, { namespace, name }, { uid, signal });
  }
}

/** The oldest control plane of a pool that can be claimed, now that of the claim; undefined if there is none. */
export async function takeControlPlane(
  claim: ControlPlaneClaim,
  pool: ControlPlanePool,
  { cluster, tenants }: Pick<Dependencies, 'cluster' | 'tenants'>,
  signal: AbortSignal,
): Promise<TenantControlPlane | undefined> {
  for (const candidate of candidates(pool, tenants())) {
    const taken = await take(claim, candidate, cluster, signal);
    if (taken !== undefined) return taken;
    // The cache was late. Whether another claim has it or only its status has changed, the API server knows.
    const { namespace, name } = candidate.metadata;
    const current = await cluster.get(tenantControlPlane, { namespace, name }, { signal });
    if (current === undefined || !isClaimable(current, pool)) continue;
    const second = await take(claim, current, cluster, signal);
    if (second !== undefined) return second;
  }
  return undefined;
}

/** Undefined if the control plane is not anymore as it was read, so that of several claims one gets it. */
async function take(
  claim: ControlPlaneClaim,
  { metadata }: TenantControlPlane,
  cluster: Dependencies['cluster'],
  signal: AbortSignal,
): Promise<TenantControlPlane | undefined> {
  const { namespace, name, resourceVersion } = metadata;
  const others = (metadata.ownerReferences ?? []).filter(({ controller }) => controller !== true);
  const body = {
    metadata: {
      resourceVersion,
      labels: { [labels.claimedBy]: claim.metadata.uid },
      // The pool lets it go in the same write.
      ownerReferences: [...others, ownerReferenceOf(claim)],
    },
  };
  try {
    const options = { fieldManager, signal };
    return await cluster.patch(tenantControlPlane, { namespace, name }, { type: 'merge', body }, options);
  } catch (error) {
    if (error instanceof ApiError && [404, 409].includes(error.code)) return undefined;
    throw error;
  }
}
