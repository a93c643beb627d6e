import { keptTenant } from '../../../api/controlplane/kept-tenant.ts';
import { UnreadableRecord } from '../../../api/controlplane/unreadable-record.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Outcome, Phase } from '../../../runtime/reconcile/phases.ts';
import { heldByAddons, reportSkipped } from '../upgrade/addon-gate.ts';
import { restartDueMs } from './restart-mark.ts';
import { withPause } from './tenant-pause.ts';
import { tenantControlPlaneOf } from './tenant-control-plane.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import { refusalOf } from '../infrastructure/refusal.ts';
import type { Scope } from '../scope.ts';

/**
 * Reads the existing TenantControlPlane. Its endpoint and Secrets are used even if the next phase cannot update it: a
 * refused spec must not affect the kubeconfig of a running control plane. A TenantControlPlane that was paused with its
 * StewardControlPlane is resumed.
 */
export function foundPhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'found',
    condition: 'TenantControlPlaneCreated',
    async run({ scp }, ctx) {
      const { namespace = '', name = '' } = scp.metadata;
      const found = await deps.cluster.get(tenantControlPlane, { namespace, name }, { signal: ctx.signal });
      const tenant = found && (await withPause(deps, found, { paused: false, ctx }));
      const owner = tenant?.metadata.ownerReferences?.find(({ controller }) => controller === true);
      if (tenant !== undefined && owner?.uid !== scp.metadata.uid) {
        const message = `a TenantControlPlane ${name} exists that this object does not own; rename one of them, or delete it`;
        return { is: 'waiting', reason: 'OwnedByAnother', message };
      }
      return tenant === undefined ? { is: 'done' } : { is: 'done', learned: { tenant } };
    },
  };
}

/** Makes the TenantControlPlane what the StewardControlPlane and its Cluster say. */
export function tenantPhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'tenant',
    condition: 'TenantControlPlaneCreated',
    needs: ['kept'],
    async run({ scp, cluster, tenant: found, keptTenancy: learned }, ctx) {
      const kept = learned === undefined ? scp.status?.keptTenancy : undefined;
      if (found?.metadata.deletionTimestamp !== undefined && (learned ?? kept) !== undefined) return goingAlone(found);
      try {
        // What was chosen and held for the one before counts for the next one.
        const former = keptTenant(scp);
        const existing = found ?? (former instanceof UnreadableRecord ? undefined : former);
        const hold = await heldByAddons(deps, { scp, cluster, existing }, ctx.signal);
        const seen = { existing, holdsVersion: hold.held !== undefined, now: ctx.now };
        const manifest = tenantControlPlaneOf(scp, cluster, seen);
        const made: true[] = [];
        const onCreated = (): void => void made.push(true);
        const options = { fieldManager, signal: ctx.signal, onCreated };
        const tenant = await deps.cluster.apply(tenantControlPlane, manifest, options);
        reportSkipped(hold, { scp, cluster, existing }, ctx);
        const successor =
          kept !== undefined && made.length > 0 ? { ...kept, heirUID: tenant.metadata.uid ?? '' } : undefined;
        const afterMs = restartDueMs({ after: scp.spec.rollout?.after, now: ctx.now });
        return {
          is: 'done',
          learned: { tenant, ...(successor !== undefined && { keptTenancy: successor }), ...hold },
          ...(afterMs !== undefined && { afterMs }),
        };
      } catch (error) {
        throw refusalOf(error) ?? error;
      }
    },
  };
}

function goingAlone({ metadata: { name = '' } }: TenantControlPlane): Outcome<Scope> {
  const message = `TenantControlPlane ${name} was deleted on its own and is recreated with the same data once it is gone`;
  return { is: 'waiting', reason: 'RetainingData', message };
}
