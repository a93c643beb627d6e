import { isDeepStrictEqual } from 'node:util';
import { retainedControlPlane } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import type { RetainedControlPlane } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import { retainedTenant } from '../../../api/steward/v1alpha1/retained-tenant.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { UnreadableRecord } from '../../../api/steward/v1alpha1/unreadable-record.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome, Phase } from '../../../runtime/reconcile/phases.ts';
import { heldByAddons, reportSkipped } from '../upgrade/addon-gate.ts';
import { resumedRestore } from '../restore/restore-pause.ts';
import { restoreState } from '../restore/restore-state.ts';
import { dueMs } from './due-ms.ts';
import { withPause } from './tenant-pause.ts';
import { tenantControlPlaneOf } from './tenant-control-plane.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import { refusalOf } from '../infrastructure/refusal.ts';
import type { Scope } from '../scope.ts';

/**
 * Reads the existing TenantControlPlane. Its endpoint and Secrets are used even if the next phase cannot update it: a
 * refused spec must not affect the kubeconfig of a running control plane. A TenantControlPlane that was paused with its
 * StewardControlPlane is resumed, and so is its restore.
 */
export function foundPhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'found',
    condition: 'TenantControlPlaneCreated',
    async run({ scp }, ctx) {
      const { namespace, name } = scp.metadata;
      // Before the TenantControlPlane: a restore that is complete has left its mark there.
      const restore = await resumedRestore(deps, scp, ctx);
      const found = await deps.cluster.get(tenantControlPlane, { namespace, name }, { signal: ctx.signal });
      const tenant = found && (await withPause(deps, found, { paused: false, ctx }));
      const owner = tenant?.metadata.ownerReferences?.find(({ controller }) => controller === true);
      if (tenant !== undefined && owner?.uid !== scp.metadata.uid) {
        const message = `a TenantControlPlane ${name} exists that this object does not own; rename this object, or delete that TenantControlPlane`;
        return { is: 'waiting', reason: 'OwnedByAnother', message };
      }
      return { is: 'done', learned: { ...(tenant && { tenant }), ...(restore && { restore }) } };
    },
  };
}

/** Makes the TenantControlPlane what the StewardControlPlane and its Cluster say. */
export function tenantPhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'tenant',
    condition: 'TenantControlPlaneCreated',
    needs: ['retained'],
    async run({ scp, cluster, tenant: found, retained, restore }, ctx) {
      if (found?.metadata.deletionTimestamp !== undefined && retained !== undefined) return goingAlone(found);
      try {
        // What was chosen and held for the one before counts for the next one.
        const former = retained && retainedTenant(retained);
        const existing = found ?? (former instanceof UnreadableRecord ? undefined : former);
        const hold = await heldByAddons(deps, { scp, cluster, existing }, ctx.signal);
        const seen = {
          ...{ existing, holdsVersion: hold.held !== undefined, now: ctx.now },
          restore: restoreState(scp, existing, restore),
        };
        const manifest = tenantControlPlaneOf(scp, cluster, seen);
        const made: true[] = [];
        const onCreated = (): void => void made.push(true);
        const options = { fieldManager, signal: ctx.signal, onCreated };
        const tenant = await deps.cluster.apply(tenantControlPlane, manifest, options);
        reportSkipped(hold, { scp, cluster, existing }, ctx);
        if (retained !== undefined && made.length > 0) await letAdopt(deps, retained, tenant, ctx);
        const afterMs = dueMs({ scp, cluster }, ctx.now);
        return {
          is: 'done',
          learned: { tenant, ...hold },
          afterMs,
        };
      } catch (error) {
        throw refusalOf(error) ?? error;
      }
    },
  };
}

/**
 * Names a TenantControlPlane that this controller has just created as the adopter, unless the record is being deleted: its
 * data may be removed by then. If only the status of the record was written in the meantime, this is tried again.
 */
async function letAdopt(
  deps: Dependencies,
  retained: RetainedControlPlane,
  tenant: TenantControlPlane,
  ctx: Context,
): Promise<void> {
  const { name, uid, resourceVersion } = retained.metadata;
  const body = { metadata: { uid, resourceVersion }, spec: { adopterUID: tenant.metadata.uid } };
  const options = { fieldManager, signal: ctx.signal };
  try {
    await deps.cluster.patch(retainedControlPlane, { name }, { type: 'merge', body }, options);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 409) throw error;
    const found = await deps.cluster.get(retainedControlPlane, { name }, { signal: ctx.signal });
    if (found?.metadata.uid !== uid || !isDeepStrictEqual(found.spec, retained.spec)) throw error;
    if (found.metadata.deletionTimestamp !== undefined) throw error;
    await letAdopt(deps, found, tenant, ctx);
  }
}

function goingAlone({ metadata: { name } }: TenantControlPlane): Outcome<Scope> {
  const message = `TenantControlPlane ${name} was deleted, but this object was not: the TenantControlPlane is recreated with the same data once the old one is gone`;
  return { is: 'waiting', reason: 'RetainingData', message };
}
