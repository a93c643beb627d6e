import { annotations, finalizers } from '../../api/names.ts';
import { controlPlaneClaim, longestClaimName } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Controller, LastReconcile, ReconcileResult } from '../../runtime/reconcile/controller.ts';
import { access } from './access.ts';
import { poolOf } from './candidates.ts';
import { ClaimKubeconfigs } from './claim-kubeconfigs.ts';
import { endClaim } from './deletion.ts';
import type { Dependencies } from './dependencies.ts';
import { boundStatus, deletingStatus, unboundStatus } from './status.ts';
import type { Unbound } from './status.ts';
import { ownControlPlane, removeSurplus, takeControlPlane } from './take.ts';
import { claimWatches } from './watches.ts';

/** Gives each ControlPlaneClaim one prepared control plane of its pool, and a kubeconfig for it. */
export function controlPlaneClaimController(deps: Dependencies): Controller<ControlPlaneClaim> {
  const kubeconfigs = new ClaimKubeconfigs(deps);
  return {
    name: 'controlplaneclaim',
    kind: controlPlaneClaim,
    optional: true,
    access,
    finalizers: [finalizers.claim],
    concernsMany: true,
    watches: claimWatches(deps),
    paused: ({ metadata }) =>
      metadata.annotations?.[annotations.paused] === undefined
        ? undefined
        : `the annotation ${annotations.paused} is set`,
    async reconcile(claim, ctx): Promise<ReconcileResult<ControlPlaneClaim>> {
      const found = await controlPlaneFor(claim, deps, ctx.signal);
      if ('reason' in found) return { status: unboundStatus(claim, found, ctx.now) };
      const kubeconfig = await kubeconfigs.keep(claim, found, ctx);
      if (kubeconfig.is === 'written' && claim.status?.kubeconfigSecret === undefined) deps.bound(claim);
      const afterMs = kubeconfig.is === 'written' ? Math.max(kubeconfig.renewal - ctx.now.getTime(), 1000) : undefined;
      return {
        status: boundStatus(claim, found, kubeconfig, ctx.now),
        ...(afterMs !== undefined && { afterMs }),
      };
    },
    async finalize(claim, { signal, now }): Promise<LastReconcile<ControlPlaneClaim>> {
      const left = await endClaim(claim, deps, signal);
      return left === undefined ? { finished: true } : { finished: false, status: deletingStatus(claim, left, now) };
    },
  };
}

/** The control plane of a claim: the one that it has, or a new one if it never had any. */
async function controlPlaneFor(
  claim: ControlPlaneClaim,
  deps: Dependencies,
  signal: AbortSignal,
): Promise<TenantControlPlane | Unbound> {
  // Before another one is taken: a manager may have ended between taking it and writing the status.
  const own = await ownControlPlane(claim, deps, signal);
  if (own !== undefined) {
    await removeSurplus(own, deps, signal);
    return own.tcp;
  }
  const { tenantControlPlane: former } = claim.status ?? {};
  if (former !== undefined) {
    const message = `TenantControlPlane ${former} does not exist anymore, or does not belong to this claim`;
    return { reason: 'ControlPlaneGone', message };
  }
  const { name } = claim.metadata;
  // The definition of an older version lets it pass.
  if (name.length > longestClaimName) {
    const message = `metadata.name: it is the name of the user in the certificate, which has at most ${longestClaimName} characters: use a shorter one in another claim`;
    return { reason: 'InvalidSpec', message };
  }
  const pool = poolOf(claim, deps.pools());
  if (pool === undefined) {
    const message = `ControlPlanePool ${claim.spec.pool} does not exist in this namespace, or is being deleted`;
    return { reason: 'PoolNotFound', message };
  }
  const taken = await takeControlPlane(claim, pool, deps, signal);
  if (taken !== undefined) return taken;
  return {
    reason: 'NoneReady',
    message: `no prepared control plane of ControlPlanePool ${pool.metadata.name} is Ready`,
  };
}
