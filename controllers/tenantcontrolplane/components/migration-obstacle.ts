import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { flagName } from './arguments.ts';
import { canFreeze, firstMinorWithPolicies, servingVersion } from './freeze-policy.ts';

/** Why a tenant's data cannot move at all, and what helps. */
export interface Obstacle {
  readonly reason: string;
  readonly remedy: string;
}

/** What stands in the way of a move between stores of these drivers; undefined when nothing does. */
export function migrationObstacle(tcp: TenantControlPlane, drivers: readonly string[]): Obstacle | undefined {
  if (!canFreeze(tcp)) {
    const reason = `cannot change with Kubernetes ${servingVersion(tcp)}, which has no way to deny writes for a moment`;
    return { reason, remedy: `upgrade to v1.${firstMinorWithPolicies} or later first` };
  }
  if ((tcp.spec.dataStoreOverrides ?? []).length > 0) {
    const reason =
      'cannot change while spec.dataStoreOverrides keeps single resources elsewhere: they do not move along';
    return { reason, remedy: 'take the overrides out first' };
  }
  const extra = tcp.spec.controlPlane.deployment.extraArgs?.apiServer ?? [];
  const encrypted = extra.some((argument) => flagName(argument) === 'encryption-provider-config');
  // In etcd the keys begin with the schema, behind kine they always begin alike; encryption may depend on the key.
  if (encrypted && drivers.includes('etcd')) {
    const reason =
      'cannot change while kube-apiserver has --encryption-provider-config: what is encrypted may be readable under its present key only, and the keys become others';
    const remedy = 'let the API server write everything unencrypted and take the flag out first';
    return { reason, remedy };
  }
  return undefined;
}
