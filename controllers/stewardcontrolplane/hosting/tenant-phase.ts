import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { annotations } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome, Phase } from '../../../runtime/reconcile/phases.ts';
import { heldByAddons, reportSkipped } from '../upgrade/addon-gate.ts';
import { dueMs } from '../tenant/due-ms.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import { refusalOf } from '../infrastructure/refusal.ts';
import type { Scope } from '../scope.ts';
import { setTenantPause } from '../tenant/tenant-pause.ts';
import type { Claim } from './claim.ts';
import { claimHash } from './claim.ts';
import { externalTenant } from './external-tenant.ts';
import type { FoundHost } from './find-host.ts';
import { claimKey, hostTrouble } from './find-host.ts';
import { ensureClaim, keepClaim } from './keep-claim.ts';
import { whoseTenant } from './tenant-owner.ts';

/** Makes the TenantControlPlane in the other cluster what the StewardControlPlane and its Cluster say. */
export function externalTenantPhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'tenant',
    condition: 'TenantControlPlaneCreated',
    needs: ['host'],
    async run(scope, ctx) {
      const { host } = scope;
      if (host === undefined) throw new Error('the hosting cluster has not been found');
      try {
        return await makeTenant(deps, { ...scope, host }, ctx);
      } catch (error) {
        return evaluate(host, error);
      }
    },
  };
}

/** The poll interval for changes that no watch reports, in milliseconds. */
const lookAgainMs = 30_000;

async function makeTenant(
  deps: Dependencies,
  { scp, cluster, host }: Scope & { readonly host: FoundHost },
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { signal } = ctx;
  const claim = await ensureClaim(deps, scp, { host, ctx });
  if (claim === undefined) {
    const message = `Secret ${claimKey(scp).name} does not belong to this object, which must store its claim to the TenantControlPlane under that name: delete the Secret`;
    return { is: 'waiting', reason: 'OwnedByAnother', message, afterMs: lookAgainMs };
  }
  deps.external?.clusters.followTenant({ uid: scp.metadata.uid, key: keyOf(scp) }, claim);
  const key = { namespace: claim.namespace, name: claim.name };
  const existing = await host.cluster.get(tenantControlPlane, key, { signal });
  const taken = existing === undefined ? undefined : whyTaken(existing, scp, claim);
  if (taken !== undefined) return taken;
  if (existing === undefined && scp.status?.initialization?.controlPlaneInitialized === true) {
    const message = `the TenantControlPlane ${claim.name} disappeared from the hosting cluster and is recreated; its data is lost`;
    ctx.event('Warning', 'TenantControlPlaneLost', message);
  }
  const hold = await heldByAddons(deps, { scp, cluster, existing }, signal);
  const manifest = externalTenant(scp, cluster, {
    claim,
    existing,
    holdsVersion: hold.held !== undefined,
    now: ctx.now,
  });
  const tenant = await host.cluster.apply(tenantControlPlane, manifest, { fieldManager, signal });
  reportSkipped(hold, { scp, cluster, existing }, ctx);
  await keepClaim(deps, scp, { host, claim, ctx });
  await setTenantPause(host, key, { paused: false, ctx });
  const afterMs = dueMs({ scp, cluster }, ctx.now);
  return {
    is: 'done',
    learned: { tenant, ...hold },
    afterMs,
  };
}

const keyOf = ({ metadata: { namespace, name } }: StewardControlPlane) => ({ namespace, name });

function whyTaken(existing: TenantControlPlane, scp: StewardControlPlane, claim: Claim): Outcome<Scope> | undefined {
  const whose = whoseTenant(existing, scp, claim);
  if (whose === 'ours' || whose === 'adoptable') return undefined;
  const { name, namespace } = claim;
  if (whose === 'lost') {
    const holder = existing.metadata.annotations?.[annotations.externalHolder] ?? '';
    const message = `the TenantControlPlane ${namespace}/${name} of the hosting cluster has been adopted by the StewardControlPlane with UID ${holder}, which has the same claim: delete this object, which does not affect the TenantControlPlane; or, to adopt the TenantControlPlane again, remove the key "holder" from Secret ${claimKey(scp).name}`;
    return { is: 'waiting', reason: 'AdoptedByAnother', message, afterMs: lookAgainMs };
  }
  const message = `the hosting cluster has a TenantControlPlane ${namespace}/${name} that does not belong to this object; delete it there, or annotate it with ${annotations.externalClaim}=${claimHash(claim.proof)} to let this object adopt it`;
  return { is: 'waiting', reason: 'OwnedByAnother', message, afterMs: lookAgainMs };
}

/** What an error of the other cluster means; throws what is retried like any other. */
function evaluate({ cluster, namespace }: FoundHost, error: unknown): Outcome<Scope> {
  const refusal = refusalOf(error);
  if (refusal !== undefined) throw refusal;
  if (error instanceof ApiError && error.code === 404) {
    const message = `the hosting cluster does not serve TenantControlPlanes: install Steward there (${error.message})`;
    return { is: 'waiting', reason: 'ApiMissing', message, afterMs: lookAgainMs };
  }
  const trouble = hostTrouble(cluster, namespace, error);
  if (trouble === undefined) throw error;
  return trouble;
}
