import type { Condition } from '../../api/meta.ts';

/** An Event about a change of conditions. */
export interface Announcement {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Reasons that only follow from another condition's, or that the condition Ready tells for all. */
const echoes: ReadonlySet<string> = new Set(['Blocked', 'ApiServerNotReady', 'Sleeping', 'Placing']);

/** What was chosen is told when it is, and what none fits for by StoreReady; migrations and rotations tell of their steps. */
const toldElsewhere: ReadonlySet<string> = new Set(['Placed', 'Migrating', 'Rotating']);

/** Their messages change while nothing else does: of requests a tenant makes as many as it likes. */
const onceOnly: ReadonlySet<string> = new Set(['Ready', 'CertificateRequestsLeft']);

/** Of these a person should know while they are True. */
const bad: ReadonlySet<string> = new Set(['UnsupportedFields', 'CertificateRequestsLeft']);

/** Reasons for which nobody has to do anything, as long as it worked not before. */
const calm: ReadonlySet<string> = new Set(['NotExposed', 'RouteNotAccepted', 'PodsNotReady', 'Rotating', 'RollingOut']);

/** True when people have heard of it. */
function isTold(then: Condition | undefined, now: Condition): boolean {
  const isSame = then?.status === now.status && then.reason === now.reason;
  return isSame && (then.message === now.message || onceOnly.has(now.type));
}

/**
 * What people are told in Events: that everything is in place, what is waited for, and what went wrong. Each is told when it
 * changes; what merely waits for something else is left out.
 */
export function announcements(before: readonly Condition[], after: readonly Condition[]): readonly Announcement[] {
  return after.flatMap((now): readonly Announcement[] => {
    const then = before.find(({ type }) => type === now.type);
    const { reason, message } = now;
    if (toldElsewhere.has(now.type)) return [];
    if (isTold(then, now)) return [];
    if (now.type === 'Ready') {
      if (now.status === 'True' && then?.status !== 'True')
        return [{ type: 'Normal', reason, message: 'the control plane serves and everything asked for is in place' }];
      return reason === 'Sleeping' ? [{ type: 'Normal', reason, message: 'no pods are wanted' }] : [];
    }
    if (bad.has(now.type)) return now.status === 'True' ? [{ type: 'Warning', reason, message }] : [];
    if (now.status !== 'False' || echoes.has(reason)) return [];
    const type = calm.has(reason) && then?.status !== 'True' ? 'Normal' : 'Warning';
    return [{ type, reason, message: message === '' ? now.type : message }];
  });
}
