import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Key } from '../../api/meta.ts';
import { annotations, finalizers } from '../../api/names.ts';
import { hasAdopted } from '../../api/steward/v1alpha1/has-adopted.ts';
import { formerKey, retainedControlPlane, retainedKey } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import type { RetainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { retainedTenant } from '../../api/steward/v1alpha1/retained-tenant.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { UnreadableRecord } from '../../api/steward/v1alpha1/unreadable-record.ts';
import type { Controller, LastReconcile, ReconcileResult } from '../../runtime/reconcile/controller.ts';
import { access } from './access.ts';
import { removeRetained } from './deletion.ts';
import type { Dependencies } from './dependencies.ts';
import { deletingStatus, retainedStatus } from './status.ts';

/** Deletes each RetainedControlPlane whose data was adopted, and removes the data of each one that is deleted before that. */
export function retainedControlPlaneController(deps: Dependencies): Controller<RetainedControlPlane> {
  return {
    name: 'retainedcontrolplane',
    kind: retainedControlPlane,
    optional: true,
    access,
    finalizers: [finalizers.retained],
    watches: [{ kind: tenantControlPlane, keys: ofTenant }],
    serves: (retained) => deps.namespace === '' || deps.namespace === formerKey(retained).namespace,
    paused: ({ metadata }) =>
      metadata.annotations?.[annotations.paused] === undefined
        ? undefined
        : `the annotation ${annotations.paused} is set`,
    async reconcile(retained, { signal, now }): Promise<ReconcileResult<RetainedControlPlane>> {
      const { name, uid, resourceVersion } = retained.metadata;
      const tcp = await deps.cluster.get(tenantControlPlane, formerKey(retained), { signal });
      // A TenantControlPlane that is being deleted may use the record again.
      if (tcp !== undefined && tcp.metadata.deletionTimestamp === undefined && hasAdopted(retained, tcp)) {
        await deps.cluster.delete(retainedControlPlane, { name }, { uid, resourceVersion, signal });
        return {};
      }
      const former = retainedTenant(retained);
      return { status: retainedStatus(retained, former instanceof UnreadableRecord ? former : undefined, now) };
    },
    async finalize(retained, ctx): Promise<LastReconcile<RetainedControlPlane>> {
      const waiting = await removeRetained(retained, deps, ctx);
      if (waiting === undefined) return { finished: true };
      const { afterMs } = waiting;
      const status = deletingStatus(retained, waiting, ctx.now);
      return { finished: false, status, afterMs };
    },
  };
}

function ofTenant(old: TenantControlPlane | undefined, now: TenantControlPlane | undefined): readonly Key[] {
  const tcp = now ?? old;
  return tcp === undefined ? [] : [retainedKey(tcp)];
}
