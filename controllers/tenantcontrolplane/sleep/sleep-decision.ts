import type { SleepStatus } from '../../../api/steward/v1alpha1/sleep/sleep-status.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { clusterUpgrade } from './cluster-upgrade.ts';
import type { ScheduleAnswers } from './schedule-answers.ts';
import type { ScheduledSleep } from './scheduled-sleep.ts';
import { sleepOverride } from './sleep-override.ts';
import { wakesBySchedule } from './wakes-by-schedule.ts';
import { wakesOnRequest } from './waking/wakes-on-request.ts';
import { idleSleep, isUnused } from './use/idle-sleep.ts';
import type { UseFinding } from './use/use-finding.ts';

/** Whether a control plane sleeps now. */
export interface SleepDecision {
  /** Absent where nothing but the number of replicas decides. */
  readonly status?: SleepStatus;
  /** Why it does not sleep yet, although it should. */
  readonly delayed?: { readonly by: 'Starting' | 'WorkUnderWay'; readonly message: string };
  /** What is wrong with the schedules: then none of them has an effect. */
  readonly fault?: string;
  /** What is known of its use, if that matters. */
  readonly use?: UseFinding;
  /** Present if somebody called it a moment ago, and the decision took that into account. */
  readonly isCalled?: true;
  /** When to decide again, in milliseconds from now. */
  readonly afterMs?: number;
}

/** A timer may be late if the clock of the machine jumps: it is not trusted for longer. */
const longestMs = 60 * 60 * 1000;

const text = (time: number): string => new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z');

/** What is wanted, and what wants it. */
interface Wanted extends ScheduledSleep {
  readonly reason: SleepStatus['reason'];
  /** It sleeps because nobody uses it, which has to be proven. */
  readonly isUnused?: boolean;
  /** It would sleep if nobody had called. */
  readonly isCalled?: boolean;
}

/** What is wanted now, regardless of the number of replicas: by a person, by schedules, or because nobody uses it. */
function wanted(tcp: TenantControlPlane, now: number, facts: SleepFacts): Wanted {
  const { answers, use } = facts;
  const timed = wantedNow(tcp, now, answers);
  if (sleepOverride(tcp, now) !== undefined) return { ...timed, reason: 'Manual' };
  const before = tcp.status?.sleep;
  const isCalled = facts.isCalled === true && wakesOnRequest(tcp) && before?.state === 'Asleep';
  if (timed.isAsleep && (isCalled || isAwakeByRequest(tcp, now, answers))) {
    if (!isCalled && isUnused(tcp, use)) return { ...timed, reason: 'Schedule', isUnused: true };
    return { ...timed, isAsleep: false, reason: 'Request', isCalled };
  }
  const idle = timed.isAsleep ? undefined : idleSleep(tcp, now, { answers, use });
  const isEnded = isCalled && before.reason === 'Use';
  if (idle !== undefined && !isEnded) return { ...idle, reason: 'Use', isUnused: true };
  if (idle !== undefined) return { ...timed, reason: 'Use', isCalled };
  return bySchedules(tcp, now, { timed, isCalled, answers });
}

/** What schedules want: it may sleep on when their time to sleep has ended, until somebody calls. */
function bySchedules(
  tcp: TenantControlPlane,
  now: number,
  { timed, isCalled, answers }: { timed: ScheduledSleep; isCalled: boolean; answers: ScheduleAnswers },
): Wanted {
  const { sleep } = tcp.spec;
  if (timed.isAsleep || !sleepsOn(tcp, now, answers))
    return { ...timed, reason: sleep !== undefined && sleep.schedules === undefined ? 'Use' : 'Schedule' };
  if (isCalled) return { ...timed, reason: 'Schedule', isCalled };
  return { isAsleep: true, next: undefined, reason: 'Schedule' };
}

/** True if it fell asleep by schedules whose time to sleep has ended, and which are not to wake it up. */
function sleepsOn(tcp: TenantControlPlane, now: number, answers: ScheduleAnswers): boolean {
  const { state, reason } = tcp.status?.sleep ?? {};
  const { schedules } = tcp.spec.sleep ?? {};
  if (state !== 'Asleep' || reason !== 'Schedule' || wakesBySchedule(tcp)) return false;
  return schedules !== undefined && answers.fault(schedules, now) === undefined;
}

/** What its schedules say. Where they do not wake it up, it is not known what does, and when. */
function scheduledAt(tcp: TenantControlPlane, time: number, { answers, now }: AskedAt): ScheduledSleep {
  const said = answers.at(tcp.spec.sleep?.schedules ?? [], time, now);
  if (!said.isAsleep || wakesBySchedule(tcp)) return said;
  // One that was called is awake by its schedules from the end of the time to sleep on, and falls asleep by them again.
  return { isAsleep: true, next: undefined, again: said.next ?? said.again };
}

interface AskedAt {
  readonly answers: ScheduleAnswers;
  readonly now: number;
}

/** True if a call keeps it awake that came in the same time of its schedules to sleep as this one is in. */
function isAwakeByRequest(tcp: TenantControlPlane, now: number, answers: ScheduleAnswers): boolean {
  const { state, requestTime } = tcp.status?.sleep ?? {};
  if (!wakesOnRequest(tcp) || state !== 'Awake' || requestTime === undefined) return false;
  return answers.hasSlept(tcp.spec.sleep?.schedules ?? [], Date.parse(requestTime), now);
}

/** What is wanted by annotations and schedules, and when that changes next: once the time of one annotation has come, the other may still be in force. */
function wantedNow(tcp: TenantControlPlane, now: number, answers: ScheduleAnswers): ScheduledSleep {
  const wantedAt = (time: number): ScheduledSleep => {
    const override = sleepOverride(tcp, time);
    if (override === undefined) return scheduledAt(tcp, time, { answers, now });
    const { isAsleep, until } = override;
    const then = wantedAt(until);
    // Whether a call wakes it up, and what keeps it awake, changes then even where the state does not.
    return { isAsleep, next: then.isAsleep === isAsleep ? then.next : until, again: until };
  };
  return wantedAt(now);
}

/** What a decision needs beside the object and the time. */
export interface SleepFacts {
  readonly answers: ScheduleAnswers;
  /** What has to end first, as text. */
  readonly underWay: () => string | undefined;
  /** What is known of its use; undefined before anything is. */
  readonly use?: UseFinding | undefined;
  /** True if somebody called it a moment ago, and waits for it to wake up. */
  readonly isCalled?: boolean;
}

/**
 * Whether a control plane sleeps, by the time, its spec, its annotations and its use: whatever a manager has missed, the next one
 * decides the same, but for what is recorded of decisions before: when it was called, and that it sleeps, where a call or a person has to wake
 * it up. Only two things keep it awake that should sleep: it was never Ready, or something is under way that has to end first.
 * What begins while it sleeps does not wake it, except for an upgrade of its Cluster.
 */
export function sleepDecision(tcp: TenantControlPlane, now: Date, facts: SleepFacts): SleepDecision {
  const { answers, underWay } = facts;
  const moment = now.getTime();
  const fault = answers.fault(tcp.spec.sleep?.schedules ?? [], moment);
  const override = sleepOverride(tcp, moment);
  const called = facts.isCalled === true && ({ isCalled: true } as const);
  const known = { ...(fault !== undefined && { fault }), ...usedBy(tcp, facts), ...called };
  if (tcp.spec.sleep === undefined && override === undefined) return known;
  const before = tcp.status?.sleep;
  const { firstReadyTime, port } = before ?? {};
  const kept = { ...(firstReadyTime !== undefined && { firstReadyTime }), ...(port !== undefined && { port }) };
  // Whatever else keeps it awake meanwhile: when that has ended, the call still counts.
  const lastRequest = isAwakeByRequest(tcp, moment, answers) ? before?.requestTime : undefined;
  const record = (
    state: SleepStatus['state'],
    { reason, isCalled, isUpgraded }: Decided,
    next?: number,
  ): SleepStatus => {
    const cause = isCalled === true ? 'Request' : isUpgraded === true ? 'Upgrade' : reason;
    const ended = state === 'Awake' ? endedAfter(before, cause, moment) : before?.ended;
    const requestTime =
      isCalled === true && reason === 'Request' ? text(moment) : state === 'Awake' ? lastRequest : undefined;
    return {
      state,
      since: before?.state === state ? before.since : text(moment),
      reason,
      ...(next !== undefined && { nextTransitionTime: text(next) }),
      ...kept,
      ...(requestTime !== undefined && { requestTime }),
      ...(ended !== undefined && { ended }),
    };
  };
  // What a schedule would say then does not matter.
  if (tcp.spec.controlPlane.deployment.replicas === 0)
    return { ...known, status: record('Asleep', { reason: 'Manual' }) };
  const decided = wanted(tcp, moment, facts);
  const { isAsleep, next } = decided;
  const again = dueAgain(decided, moment);
  if (!isAsleep) return { ...known, ...again, status: record('Awake', decided, next) };
  const upgrade = clusterUpgrade(tcp, moment);
  const delayed = delay(before, { upgrade, underWay });
  if (delayed !== undefined) {
    const status = record('Awake', { ...keptAwake(before, decided), isUpgraded: upgrade !== undefined });
    return { ...known, ...again, status, delayed };
  }
  if (decided.isUnused === true && isDoubtful(before, facts))
    return { ...known, ...again, status: record('Awake', keptAwake(before, decided)) };
  return { ...known, ...again, status: record('Asleep', decided, next) };
}

/** When to decide again; never, if only an event can change anything. */
function dueAgain({ next, again }: ScheduledSleep, now: number): Pick<SleepDecision, 'afterMs'> {
  const due = Math.min(next ?? Infinity, again ?? Infinity);
  return due === Infinity ? {} : { afterMs: Math.min(Math.max(due - now, 1), longestMs) };
}

/** What is recorded of a decision. */
type Decided = Pick<Wanted, 'reason' | 'isCalled'> & {
  /** It would sleep if its Cluster were not being upgraded. */
  readonly isUpgraded?: boolean;
};

/** What is recorded of one that is not unused for long enough, or busy: a call, if that was what kept it awake. */
function keptAwake(before: SleepStatus | undefined, decided: Wanted): Decided {
  return decided.isUnused === true && before?.reason === 'Request' ? { reason: 'Request' } : decided;
}

/** What is known of the use of one that is to sleep without it. */
function usedBy({ spec }: TenantControlPlane, { use }: SleepFacts): Pick<SleepDecision, 'use'> {
  return spec.sleep?.afterIdle === undefined || use === undefined ? {} : { use };
}

/** True if somebody may have used one that is awake since the last reading. The next reading has it reconciled. */
function isDoubtful(before: SleepStatus | undefined, { use }: SleepFacts): boolean {
  return before?.state !== 'Asleep' && use?.isProven !== true;
}

type WakeCause = SleepStatus['reason'] | 'Upgrade';

/** What is recorded of the times in which it slept, of one that is awake now. */
function endedAfter(before: SleepStatus | undefined, cause: WakeCause, now: number): SleepStatus['ended'] {
  if (before?.state !== 'Asleep') return before?.ended;
  const { seconds = 0, bySchedule = 0, byRequest = 0, byUpgrade = 0, byPerson = 0 } = before.ended ?? {};
  const by = wokenBy(before, cause);
  const counts = {
    byRequest: byRequest + (by === 'byRequest' ? 1 : 0),
    byUpgrade: byUpgrade + (by === 'byUpgrade' ? 1 : 0),
  };
  return {
    // Rounded up: a metric that counted on until now must not decrease.
    seconds: seconds + Math.max(Math.ceil((now - Date.parse(before.since)) / 1000), 0),
    bySchedule: bySchedule + (by === 'bySchedule' ? 1 : 0),
    ...(counts.byRequest > 0 && { byRequest: counts.byRequest }),
    ...(counts.byUpgrade > 0 && { byUpgrade: counts.byUpgrade }),
    byPerson: byPerson + (by === 'byPerson' ? 1 : 0),
  };
}

/** What counts as having woken it up. */
function wokenBy(before: SleepStatus, cause: WakeCause): Exclude<keyof NonNullable<SleepStatus['ended']>, 'seconds'> {
  if (cause === 'Request') return 'byRequest';
  if (cause === 'Upgrade') return 'byUpgrade';
  return cause === 'Manual' || before.reason === 'Manual' ? 'byPerson' : 'bySchedule';
}

function delay(
  before: SleepStatus | undefined,
  { upgrade, underWay }: Pick<SleepFacts, 'underWay'> & { readonly upgrade: string | undefined },
): SleepDecision['delayed'] {
  if (before?.firstReadyTime === undefined) return { by: 'Starting', message: 'it has not been Ready yet' };
  const work = upgrade ?? (before.state === 'Asleep' ? undefined : underWay());
  return work === undefined ? undefined : { by: 'WorkUnderWay', message: work };
}

/** The record with the time at which the control plane was first seen Ready. */
export function withFirstReady(status: SleepStatus | undefined, isReady: boolean, now: Date): SleepStatus | undefined {
  if (status === undefined || status.firstReadyTime !== undefined || !isReady) return status;
  return { ...status, firstReadyTime: text(now.getTime()) };
}
