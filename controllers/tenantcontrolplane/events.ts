import type { Condition } from '../../api/meta.ts';

/** An Event about a change of conditions. */
export interface Announcement {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Reasons that only follow from another condition, or that the condition Ready summarizes. */
const echoes: ReadonlySet<string> = new Set([
  'Blocked',
  'ApiServerNotReady',
  'Sleeping',
  'PlacementPending',
  'StoppedForMigration',
]);

/**
 * Conditions that are reported elsewhere: a placement when it is made, and the lack of one by StoreReady; migrations and
 * rotations report their steps.
 */
const reportedElsewhere: ReadonlySet<string> = new Set(['Placed', 'Migrating', 'Rotating']);

/** Reasons that report the progress of something that a person requested. */
const steps: ReadonlySet<string> = new Set(['Adding', 'Switching', 'Rewriting', 'Retiring']);

/** Conditions whose message may change without any other change: a tenant can create any number of requests. */
const onceOnly: ReadonlySet<string> = new Set(['Ready', 'CertificateRequestsLeft', 'WithinQuota']);

/** Conditions that people should know while they are True. */
const bad: ReadonlySet<string> = new Set(['CertificateRequestsLeft']);

/** Reasons that need no action, unless the condition was True before. */
const calm: ReadonlySet<string> = new Set(['NotExposed', 'RouteNotAccepted', 'PodsNotReady', 'Rotating', 'RollingOut']);

/** True when an Event has already reported it. */
function wasReported(then: Condition | undefined, now: Condition): boolean {
  const isSame = then?.status === now.status && then.reason === now.reason;
  return isSame && (then.message === now.message || onceOnly.has(now.type));
}

/** That a control plane falls asleep or wakes up, why it does not, and what is wrong with its schedules. */
function aboutSleep(then: Condition | undefined, now: Condition): readonly Announcement[] {
  const { status, reason, message } = now;
  if (reason === 'InvalidSpec') return [{ type: 'Warning', reason, message }];
  if (status === 'True') {
    return then?.status === 'True' ? [] : [{ type: 'Normal', reason: 'FallingAsleep', message }];
  }
  if (then?.status === 'True')
    return [{ type: 'Normal', reason: 'WakingUp', message: message === '' ? reason : message }];
  if (reason === 'UseUnknown') return [{ type: 'Warning', reason, message }];
  const isDelayed = reason === 'WorkUnderWay' || reason === 'Starting';
  return isDelayed ? [{ type: 'Normal', reason: 'SleepDelayed', message }] : [];
}

/**
 * The Events about conditions: that everything is in place, what is waited for, and what went wrong. Each is reported when it
 * changes; conditions that only wait for another one are left out.
 */
export function announcements(before: readonly Condition[], after: readonly Condition[]): readonly Announcement[] {
  return after.flatMap((now): readonly Announcement[] => {
    const then = before.find(({ type }) => type === now.type);
    const { reason, message } = now;
    if (reportedElsewhere.has(now.type)) return [];
    if (wasReported(then, now)) return [];
    if (now.type === 'Asleep') return aboutSleep(then, now);
    if (now.type === 'Ready') {
      if (now.status === 'True' && then?.status !== 'True')
        return [{ type: 'Normal', reason, message: 'the API server responds and everything in the spec is in place' }];
      // The condition about sleep says more.
      const isKnown = after.some(({ type, status }) => type === 'Asleep' && status === 'True');
      if (reason !== 'Sleeping' || isKnown) return [];
      return [{ type: 'Normal', reason, message: 'the control plane has 0 replicas' }];
    }
    if (bad.has(now.type)) return now.status === 'True' ? [{ type: 'Warning', reason, message }] : [];
    if (now.status !== 'False' || echoes.has(reason) || steps.has(reason)) return [];
    const type = calm.has(reason) && then?.status !== 'True' ? 'Normal' : 'Warning';
    return [{ type, reason, message: message === '' ? now.type : message }];
  });
}
