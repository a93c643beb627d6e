import { goDuration } from '../../../../api/go-duration.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { ScheduleAnswers } from '../schedule-answers.ts';
import type { ScheduledSleep } from '../scheduled-sleep.ts';
import type { UseFinding } from './use-finding.ts';

/** So many changes of a schedule are looked at to find the next time to wake up. */
const mostSteps = 8;

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

/** The first time after another one at which schedules wake it up; undefined if they never do. */
function nextWake(tcp: TenantControlPlane, after: number, answers: ScheduleAnswers): number | undefined {
  const schedules = tcp.spec.sleep?.schedules ?? [];
  let { isAsleep, next } = answers.foretell(schedules, after, after);
  for (let steps = 0; next !== undefined && steps < mostSteps; steps += 1) {
    const then = answers.foretell(schedules, next, after);
    if (isAsleep && !then.isAsleep) return next;
    ({ isAsleep, next } = then);
  }
  return undefined;
}

/**
 * Whether it sleeps because nobody uses it, at a time for which neither a person nor a schedule says that it sleeps. Once asleep, it
 * sleeps until a schedule wakes it up: only a time to wake up that has come since counts.
 */
export function idleSleep(
  tcp: TenantControlPlane,
  now: number,
  { answers, use }: { readonly answers: ScheduleAnswers; readonly use: UseFinding | undefined },
): ScheduledSleep | undefined {
  if (afterIdleMs(tcp) === undefined) return undefined;
  const before = tcp.status?.sleep;
  if (before?.state === 'Asleep' && before.reason === 'Use') {
    const wake = nextWake(tcp, Date.parse(before.since), answers);
    return wake !== undefined && wake <= now ? undefined : { isAsleep: true, next: wake };
  }
  if (!isUnused(tcp, use)) return undefined;
  return { isAsleep: true, next: nextWake(tcp, now, answers) };
}
