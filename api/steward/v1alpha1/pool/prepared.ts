import type { NamespacedResource } from '../../../meta.ts';
import { labels } from '../../../names.ts';
import type { TenantControlPlane } from '../tenant-control-plane.ts';
import type { ControlPlanePool } from './control-plane-pool.ts';
import { templateHash } from './template-hash.ts';

/** The UID of the controller of an object. */
export function controllerOf({ metadata }: NamespacedResource): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

/**
 * True if a control plane is in reserve: the pool owns it, and nobody has claimed it. Both marks change in one write, so that either alone
 * suffices to keep it from another claimant.
 */
export function isUnclaimed(tcp: TenantControlPlane, pool: ControlPlanePool): boolean {
  return (
    tcp.metadata.namespace === pool.metadata.namespace &&
    controllerOf(tcp) === pool.metadata.uid &&
    tcp.metadata.labels?.[labels.claimedBy] === undefined
  );
}

/** True for a control plane that works as its spec says, and is not being deleted. */
export function isReady({ metadata, status }: TenantControlPlane): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return (
    metadata.deletionTimestamp === undefined &&
    ready?.status === 'True' &&
    status?.observedGeneration === metadata.generation
  );
}

/** True for a control plane that a claim may take: in reserve, of the current template, and Ready. */
export function isClaimable(tcp: TenantControlPlane, pool: ControlPlanePool): boolean {
  return isUnclaimed(tcp, pool) && isReady(tcp) && isCurrent(tcp, pool);
}

/** True for a control plane that was created from the template as it is now. */
export function isCurrent({ metadata }: TenantControlPlane, { spec }: ControlPlanePool): boolean {
  return metadata.labels?.[labels.templateHash] === templateHash(spec.template);
}
