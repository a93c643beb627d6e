import type { Condition } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import type { SleepStatus } from '../../../api/steward/v1alpha1/sleep/sleep-status.ts';
import type { UseStatus } from '../../../api/steward/v1alpha1/sleep/use-status.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { SleepDecision } from './sleep-decision.ts';
import { unreadableOverrides } from './sleep-override.ts';
import type { UseFinding } from './use/use-finding.ts';
import { wakesBySchedule } from './wakes-by-schedule.ts';

/** Status, reason and message of a condition. */
type Finding = Pick<Condition, 'status' | 'reason' | 'message'>;

/** The condition about sleep; undefined where none was ever requested other than by 0 replicas. */
export function asleepCondition(
  tcp: TenantControlPlane,
  { status, delayed, fault, use }: SleepDecision,
): Finding | undefined {
  const unused = fault === undefined ? undefined : `${fault}; no schedule has an effect`;
  // What an annotation or 0 replicas want counts all the same.
  if (unused !== undefined && status?.state !== 'Asleep') {
    return { status: 'False', reason: 'InvalidSpec', message: unused };
  }
  if (status === undefined) {
    const isKnown = tcp.status?.conditions?.some(({ type }) => type === 'Asleep') === true;
    return isKnown ? { status: 'False', reason: 'NotRequested', message: '' } : undefined;
  }
  const { state, reason, nextTransitionTime } = status;
  const besides = [
    ...unreadableOverrides(tcp).map((key) => `the annotation ${key} has no effect: its value is no RFC 3339 time`),
    ...(unused === undefined ? [] : [unused]),
  ];
  const say = (is: Finding['status'], why: string, what: string): Finding => ({
    status: is,
    reason: why,
    message: [what, ...besides].join('; '),
  });
  const until = nextTransitionTime === undefined ? '' : ` until ${nextTransitionTime}`;
  const { afterIdle } = tcp.spec.sleep ?? {};
  if (delayed?.by === 'Starting') return say('False', 'Starting', `it is time to sleep, but ${delayed.message}`);
  if (delayed !== undefined) return say('False', 'WorkUnderWay', `it is time to sleep, but ${delayed.message}`);
  if (state === 'Asleep') {
    const { why, what } = sleepText(tcp, reason, until);
    return say('True', why, what);
  }
  const { why, what } = awakeText(tcp, status, { use, until, afterIdle });
  return say('False', why, what);
}

/** A reason and its message. */
interface Text {
  readonly why: string;
  readonly what: string;
}

/** What is said of one that is awake. */
function awakeText(
  tcp: TenantControlPlane,
  { reason, requestTime }: SleepStatus,
  {
    use,
    until,
    afterIdle,
  }: Pick<SleepDecision, 'use'> & { readonly until: string; readonly afterIdle: string | undefined },
): Text {
  if (reason === 'Manual')
    return { why: 'KeptAwake', what: `awake${until}, as the annotation ${annotations.wakeUntil} requests` };
  if (afterIdle !== undefined) {
    const { why, what } = useText(tcp, use, afterIdle);
    if (until === '') return { why, what };
    const besides = reason === 'Request' ? 'its schedule says that it sleeps' : 'awake by its schedule';
    return { why, what: `${what}; ${besides}${until}` };
  }
  if (reason === 'Request') {
    const since = requestTime === undefined ? '' : ` at ${requestTime}`;
    const then = wakesBySchedule(tcp) ? `would wake it up${until.replace('until', 'at')}` : 'says that it sleeps';
    return { why: 'Awake', what: `awake because somebody called it${since}; its schedule ${then}` };
  }
  return { why: 'Awake', what: `awake by its schedule${until}` };
}

/** What is said of one that sleeps. */
function sleepText(tcp: TenantControlPlane, reason: SleepStatus['reason'], until: string): Text {
  const { spec } = tcp;
  if (spec.controlPlane.deployment.replicas === 0)
    return { why: 'Requested', what: 'spec.controlPlane.deployment.replicas is 0' };
  if (reason === 'Use')
    return { why: 'Idle', what: `nobody has used it for ${spec.sleep?.afterIdle ?? ''}: it sleeps${until}` };
  if (reason === 'Schedule' && !wakesBySchedule(tcp))
    return {
      why: 'Scheduled',
      what: `fell asleep by its schedule, and sleeps until somebody wakes it up: spec.sleep.wakeOn does not list Schedule`,
    };
  if (reason === 'Schedule') return { why: 'Scheduled', what: `sleeps by its schedule${until}` };
  return { why: 'Requested', what: `sleeps${until}, as the annotation ${annotations.sleepUntil} requests` };
}

/** What was recorded of its use, unless that was before it fell asleep: then it says nothing about the pods that run now. */
function recordedUse({ status }: TenantControlPlane): UseStatus | undefined {
  const { use, sleep } = status ?? {};
  return use === undefined || use.since < (sleep?.since ?? '') ? undefined : use;
}

/** What is said of one that is awake and falls asleep when nobody uses it. The text changes only with the state. */
function useText(tcp: TenantControlPlane, use: UseFinding | undefined, afterIdle: string): Text {
  const falls = `it falls asleep when nobody has used it for ${afterIdle}`;
  const recorded = recordedUse(tcp);
  const state = use?.state ?? recorded?.state ?? 'InUse';
  if (state === 'InUse') return { why: 'InUse', what: `it is in use; ${falls}` };
  if (state === 'Unknown') {
    const cause = use?.message === undefined ? '' : `: ${use.message}`;
    return { why: 'UseUnknown', what: `it stays awake, because it is not known whether it is used${cause}` };
  }
  const since = use?.since.toISOString().replace(/\.\d{3}Z$/, 'Z') ?? recorded?.since ?? '';
  return { why: 'NotUsed', what: `nobody has used it since ${since}; ${falls}` };
}
