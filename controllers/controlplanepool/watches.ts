import type { Key } from '../../api/meta.ts';
import { labels } from '../../api/names.ts';
import { controlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { isReady } from '../../api/steward/v1alpha1/pool/prepared.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Watch } from '../../runtime/reconcile/controller.ts';

/** What else concerns a ControlPlanePool. */
export const poolWatches: readonly Watch[] = [
  {
    kind: tenantControlPlane,
    keys: (old, now) => (traits(old) === traits(now) ? [] : poolsOf(old, now)),
  } satisfies Watch<TenantControlPlane>,
  {
    kind: controlPlaneClaim,
    optional: true,
    keys(old, now): readonly Key[] {
      const { metadata, spec } = now ?? old ?? {};
      if (metadata === undefined || spec === undefined || demandOf(old) === demandOf(now)) return [];
      return [{ namespace: metadata.namespace, name: spec.pool }];
    },
  } satisfies Watch<ControlPlaneClaim>,
] as readonly Watch[];

function poolsOf(...seen: readonly (TenantControlPlane | undefined)[]): readonly Key[] {
  const keys = seen.flatMap((tcp) => {
    const name = tcp?.metadata.labels?.[labels.pool];
    return tcp === undefined || name === undefined ? [] : [{ namespace: tcp.metadata.namespace, name }];
  });
  return keys.filter(({ name }, index) => keys.findIndex((key) => key.name === name) === index);
}

/** What of a control plane decides where it stands in its pool. */
function traits(tcp: TenantControlPlane | undefined): string {
  if (tcp === undefined) return '';
  const { uid, labels: carried, ownerReferences, deletionTimestamp } = tcp.metadata;
  const ready = tcp.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return JSON.stringify([uid, carried, ownerReferences, deletionTimestamp, isReady(tcp), ready]);
}

function demandOf(claim: ControlPlaneClaim | undefined): string {
  if (claim === undefined) return '';
  const { metadata, status } = claim;
  return JSON.stringify([metadata.uid, metadata.deletionTimestamp, status?.tenantControlPlane, status?.boundTime]);
}
