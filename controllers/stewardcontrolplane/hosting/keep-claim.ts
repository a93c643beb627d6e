import { isDeepStrictEqual } from 'node:util';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../../api/core/kinds.ts';
import { annotations } from '../../../api/names.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import type { Claim } from './claim.ts';
import { claimSecret, externalTenantName } from './claim.ts';
import type { FoundHost } from './find-host.ts';

/**
 * The claim of a StewardControlPlane: the existing one, else a new one, which is stored in its Secret before anything is
 * created in the other cluster. Undefined if a Secret of someone else has its name.
 */
export async function ensureClaim(
  deps: Dependencies,
  scp: StewardControlPlane,
  { host, ctx }: { readonly host: FoundHost; readonly ctx: Context },
): Promise<Claim | undefined> {
  if (host.claim !== undefined) return host.claim;
  if (deps.external === undefined) return undefined;
  const isOurs = host.stored?.metadata.ownerReferences?.some(({ uid }) => uid === scp.metadata.uid) ?? false;
  if (host.stored !== undefined && !isOurs) return undefined;
  const claim: Claim = {
    proof: deps.external.newProof(),
    name: (await heldTenantName(host, scp, ctx)) ?? externalTenantName(scp),
    namespace: host.namespace,
    namespaceUid: host.namespaceUid,
    holder: '',
  };
  const options = { fieldManager, signal: ctx.signal };
  const manifest = claimSecret(scp, claim);
  if (host.stored === undefined) await deps.cluster.create(kinds.Secret, manifest, options);
  else await deps.cluster.apply(kinds.Secret, manifest, options);
  return claim;
}

/** Writes down that the StewardControlPlane holds its TenantControlPlane, and repairs the Secret; nothing when all is as it should be. */
export async function keepClaim(
  deps: Dependencies,
  scp: StewardControlPlane,
  { host, claim, ctx }: { readonly host: FoundHost; readonly claim: Claim; readonly ctx: Context },
): Promise<void> {
  const wanted = claimSecret(scp, { ...claim, holder: scp.metadata.uid });
  const { metadata, data } = host.stored ?? { metadata: {}, data: undefined };
  const isOwned = metadata.ownerReferences?.some(({ uid }) => uid === scp.metadata.uid) ?? false;
  const isLabeled = wanted.metadata.labels?.[clusterNameLabel] === metadata.labels?.[clusterNameLabel];
  if (isOwned && isLabeled && isDeepStrictEqual(data, wanted.data)) return;
  await deps.cluster.apply(kinds.Secret, wanted, { fieldManager, signal: ctx.signal });
}

/** The name of the TenantControlPlane there that belongs to us, for a StewardControlPlane whose claim is lost. */
export async function heldTenantName(
  { cluster, namespace }: FoundHost,
  scp: StewardControlPlane,
  { signal }: Context,
): Promise<string | undefined> {
  const options = { namespace, labelSelector: clusterNameLabel, metadataOnly: true, signal };
  const { items } = await cluster.list(tenantControlPlane, options);
  return items.find(({ metadata }) => metadata.annotations?.[annotations.externalHolder] === scp.metadata.uid)?.metadata
    .name;
}
