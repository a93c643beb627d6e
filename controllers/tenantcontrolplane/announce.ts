import type { Condition } from '../../api/meta.ts';

/** An Event about a change of conditions. */
export interface Announcement {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Reasons that only follow from another condition's, or that the condition Ready tells for all. */
const echoes: ReadonlySet<string> = new Set(['Blocked', 'ApiServerNotReady', 'Sleeping', 'Placing']);

/** What was chosen is told when it is, and what none fits for by StoreReady; a migration tells of its steps. */
const toldElsewhere: ReadonlySet<string> = new Set(['Placed', 'Migrating']);

/** Reasons for which nobody has to do anything, as long as it worked not before. */
const calm: ReadonlySet<string> = new Set(['NotExposed', 'RouteNotAccepted', 'PodsNotReady', 'Rotating', 'RollingOut']);

/**
 * What people are told in Events: that everything is in place, what is waited for, and what went wrong. Each is told when it
 * changes; what merely waits for something else is left out.
 */
export function announcements(before: readonly Condition[], after: readonly Condition[]): readonly Announcement[] {
  return after.flatMap((now): readonly Announcement[] => {
    const then = before.find(({ type }) => type === now.type);
    const { reason, message } = now;
    if (toldElsewhere.has(now.type)) return [];
    if (then?.status === now.status && then.reason === reason && (then.message === message || now.type === 'Ready'))
      return [];
    if (now.type === 'Ready') {
      if (now.status === 'True' && then?.status !== 'True')
        return [{ type: 'Normal', reason, message: 'the control plane serves and everything asked for is in place' }];
      return reason === 'Sleeping' ? [{ type: 'Normal', reason, message: 'no pods are wanted' }] : [];
    }
    if (now.type === 'UnsupportedFields') return now.status === 'True' ? [{ type: 'Warning', reason, message }] : [];
    if (now.status !== 'False' || echoes.has(reason)) return [];
    const type = calm.has(reason) && then?.status !== 'True' ? 'Normal' : 'Warning';
    return [{ type, reason, message: message === '' ? now.type : message }];
  });
}
