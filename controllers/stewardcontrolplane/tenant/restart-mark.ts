import { annotations } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** When a restart of the pods is due: `spec.rollout.after`, seen from what there is. */
export interface RestartInput {
  readonly after: string | undefined;
  readonly existing: TenantControlPlane | undefined;
  readonly now: Date;
}

/**
 * The time in the mark of the pods, whose change replaces them: the requested time once it has come, unless newer pods run
 * already. It stays when the request is removed, which must not restart anything.
 */
export function restartMark({ after, existing, now }: RestartInput): string | undefined {
  const before = existing?.spec.controlPlane.deployment.podAdditionalMetadata?.annotations?.[annotations.rolloutAfter];
  if (after === undefined || Date.parse(after) > now.getTime()) return before;
  const since = before ?? existing?.metadata.creationTimestamp;
  return since !== undefined && Date.parse(after) <= Date.parse(since) ? before : after;
}

/** Milliseconds until a restart is due; undefined when none is to come. */
export function restartDueMs({ after, now }: Pick<RestartInput, 'after' | 'now'>): number | undefined {
  const ms = after === undefined ? 0 : Date.parse(after) - now.getTime();
  return ms > 0 ? Math.min(ms, longestMs) : undefined;
}

/** Clocks are set meanwhile, and timers cannot wait for years. */
const longestMs = 3_600_000;
