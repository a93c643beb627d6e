import { goDuration } from '../../../../api/go-duration.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { ScheduleAnswers } from '../schedule-answers.ts';
import type { ScheduledSleep } from '../scheduled-sleep.ts';
import { wakesBySchedule } from '../wakes-by-schedule.ts';
import type { UseFinding } from './use-finding.ts';

/** `spec.sleep.afterIdle` in milliseconds; undefined if there is none. Throws a RangeError for what is no duration. */
export function afterIdleMs({ spec }: Pick<TenantControlPlane, 'spec'>): number | undefined {
  const text = spec.sleep?.afterIdle;
  return text === undefined ? undefined : goDuration(text);
}

/** True if nobody has used it for as long as `afterIdle` says; false without that. */
export function isUnused(tcp: TenantControlPlane, use: UseFinding | undefined): boolean {
  const limitMs = afterIdleMs(tcp);
  return limitMs !== undefined && use?.state === 'Idle' && use.unusedMs >= limitMs;
}

/**
 * Whether it sleeps because nobody uses it, at a time for which neither a person nor a schedule says that it sleeps. Once asleep, it
 * sleeps until a schedule wakes it up, if `wakeOn` lets schedules do so: only a time to wake up that has come since counts.
 */
export function idleSleep(
  tcp: TenantControlPlane,
  now: number,
  { answers, use }: { readonly answers: ScheduleAnswers; readonly use: UseFinding | undefined },
): ScheduledSleep | undefined {
  if (afterIdleMs(tcp) === undefined) return undefined;
  const { schedules = [] } = tcp.spec.sleep ?? {};
  const before = tcp.status?.sleep;
  const isAsleep = before?.state === 'Asleep' && before.reason === 'Use';
  if (!isAsleep && !isUnused(tcp, use)) return undefined;
  if (!wakesBySchedule(tcp)) {
    // Then the schedules say that it sleeps, which is recorded.
    const said = answers.at(schedules, now);
    return { isAsleep: true, next: undefined, again: said.next ?? said.again };
  }
  const { wake, again } = answers.nextWake(schedules, isAsleep ? Date.parse(before.since) : now, now);
  return isAsleep && wake !== undefined && wake <= now ? undefined : { isAsleep: true, next: wake, again };
}
