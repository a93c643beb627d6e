import { labels } from '../../api/names.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { isReady, isUnclaimed } from '../../api/steward/v1alpha1/pool/prepared.ts';
import { templateHash } from '../../api/steward/v1alpha1/pool/template-hash.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Prepared } from './plan.ts';

/** The control planes of a pool that nobody has claimed. */
export function unclaimedOf(
  pool: ControlPlanePool,
  tenants: readonly TenantControlPlane[],
): readonly TenantControlPlane[] {
  return tenants.filter((tcp) => isUnclaimed(tcp, pool));
}

/** How many control planes of a pool belong to claims. */
export function claimedCount(
  { metadata: { namespace, name } }: ControlPlanePool,
  tenants: readonly TenantControlPlane[],
): number {
  return tenants.filter(
    ({ metadata }) =>
      metadata.namespace === namespace &&
      metadata.labels?.[labels.pool] === name &&
      metadata.labels[labels.claimedBy] !== undefined,
  ).length;
}

/** The control planes in reserve, without those that are being deleted, as the plan needs them. */
export function preparedOf(pool: ControlPlanePool, tenants: readonly TenantControlPlane[]): readonly Prepared[] {
  const hash = templateHash(pool.spec.template);
  return unclaimedOf(pool, tenants)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((tcp) => {
      const { name, labels: carried, creationTimestamp = '' } = tcp.metadata;
      const created = timeOf(creationTimestamp);
      const changed = tcp.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '';
      return {
        name,
        current: carried?.[labels.templateHash] === hash,
        ready: isReady(tcp),
        created,
        since: Math.max(created, timeOf(changed)),
      };
    });
}

function timeOf(text: string): number {
  const time = Date.parse(text);
  return Number.isNaN(time) ? 0 : time;
}
