import type { Deployment } from '../../../api/core/kinds.ts';
import type { Autoscaling } from '../../../api/embedded/autoscaling.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isAsleep, replicasNow } from '../../../api/steward/v1alpha1/sleep/is-asleep.ts';
import { mayNotRun, replicasBeforeStop } from '../../../api/steward/v1alpha1/stopped-servers.ts';
import { fieldManager } from '../dependencies.ts';

/** How the pods are scaled; undefined while the spec alone says how many there are. A control plane that sleeps is not scaled. */
export function autoscalingOf(tcp: TenantControlPlane): Autoscaling | undefined {
  return isAsleep(tcp) ? undefined : tcp.spec.controlPlane.deployment.autoscaling;
}

/**
 * How many pods are wanted: what an autoscaler has set in the Deployment, else what the spec says. Those that a migration has stopped
 * for a moment are still wanted.
 */
export function wantedReplicas(tcp: TenantControlPlane, deployment: Deployment | undefined): number {
  const present = deployment?.spec?.replicas ?? 0;
  return autoscalingOf(tcp) !== undefined && present > 0 ? present : initialReplicas(tcp);
}

/** How many pods there can be at most. */
export function mostReplicas(tcp: TenantControlPlane): number {
  return autoscalingOf(tcp)?.maxReplicas ?? replicasNow(tcp);
}

/**
 * The replicas to apply to the Deployment; undefined where another client has set them and an autoscaler decides. Until then,
 * the present number is sent: a field that we own and no longer send falls back to the API server's default. An autoscaler
 * does not act on a Deployment with 0 replicas, so one that wakes up starts with a number of ours. Neither does it act while a
 * migration has stopped the pods.
 */
export function appliedReplicas(tcp: TenantControlPlane, present: Deployment | undefined): number | undefined {
  if (mayNotRun(tcp)) return 0;
  if (autoscalingOf(tcp) === undefined || (present?.spec?.replicas ?? 0) === 0) return initialReplicas(tcp);
  return isSetByOthers(present) ? undefined : present?.spec?.replicas;
}

function initialReplicas(tcp: TenantControlPlane): number {
  const replicas = replicasNow(tcp);
  const bounds = autoscalingOf(tcp);
  if (bounds === undefined) return replicas;
  return Math.min(Math.max(replicasBeforeStop(tcp) ?? replicas, bounds.minReplicas), bounds.maxReplicas);
}

interface ManagedFields {
  readonly manager?: string;
  readonly subresource?: string;
  readonly fieldsV1?: { readonly 'f:spec'?: { readonly 'f:replicas'?: object } };
}

/** True when another field manager than ours owns the number of replicas, as one does that has changed it. */
function isSetByOthers(deployment: Deployment | undefined): boolean {
  const entries = (deployment?.metadata.managedFields ?? []) as readonly ManagedFields[];
  return entries
    .filter(({ manager, subresource = '' }) => manager !== fieldManager || subresource !== '')
    .some(({ fieldsV1 }) => fieldsV1?.['f:spec']?.['f:replicas'] !== undefined);
}
