import type { DefragmentationLimits, DefragmentationStep, DefragmentedServer } from '../../defragmentation.ts';
import type { LivingMember, MemberAnswer } from '../client.ts';
import { unavailableError } from '../errors.ts';
import type { Alarm, ListedMember } from './maintenance-client.ts';

/** What is known of a cluster before a step. */
export interface Survey {
  /** One of each endpoint, in the order of the DataStore. */
  readonly answers: readonly MemberAnswer[];
  readonly members: readonly ListedMember[];
  readonly alarms: readonly Alarm[];
}

/** What a plan is made of. */
export interface PlanInput extends Survey {
  readonly limits: DefragmentationLimits;
  readonly previous: readonly DefragmentedServer[];
  readonly now: Date;
}

/** What is to be done next, or why nothing is. */
export type Plan =
  | Extract<DefragmentationStep, { readonly is: 'unneeded' | 'waits' }>
  | { readonly is: 'defragment'; readonly member: LivingMember }
  | { readonly is: 'disarm'; readonly memberIds: readonly string[] };

type Waits = Extract<DefragmentationStep, { readonly is: 'waits' }>;

/** No member is defragmented more often while etcd accepts writes: where much is written and deleted, free space comes back as soon as etcd compacts. */
const pauseBetweenMs = 3_600_000;

/** Bytes that a defragmentation copies in a second, until it was measured: what a busy disk does. */
const assumedBytesPerSecond = 20 * 2 ** 20;

/** The next one may be so many times slower than the slowest one before: disks are not always equally busy. */
const margin = 2;

/** With less of its quota used, a member can accept writes for a while. */
const relievedPart = 0.8;

/** While the alarm is raised, a defragmentation is useful if it frees this part of the file. */
const worthwhilePart = 0.1;

/**
 * The next step: one member at a time, in the order of the endpoints, and the leader last. It stays the leader, because a write that is
 * under way when another member becomes the leader is lost, and none is while the leader is defragmented. Nothing is done while a member
 * does not answer, is not among the endpoints, or has an alarm other than the one that a defragmentation ends. Two processes that see the
 * same cluster choose the same step.
 */
export function planDefragmentation(input: PlanInput): Plan {
  const { limits, alarms } = input;
  const living = input.answers.filter((answer) => 'version' in answer);
  const isFull = alarms.some(({ is }) => is === 'space');
  const needy = living.filter((member) =>
    isFull ? isWorthwhile(member, input) : isFragmented(member, limits) && !wasRecent(member, input),
  );
  if (needy.length === 0 && !isFull) return { is: 'unneeded' };
  const waiting = reasonToWait(input, living);
  if (waiting !== undefined) return waiting;
  if (needy.length === 0) return relief(input, living);
  // An etcd that accepts no writes can as well be blocked for longer.
  const ready = isFull ? needy : needy.filter((member) => pauseMs(member, input) <= limits.maximumPauseMs);
  const [slow] = needy;
  if (ready.length === 0 && slow !== undefined) return tooLong(slow, input);
  const member = ready.find(({ memberId, leaderId }) => memberId !== leaderId) ?? ready[0];
  return member === undefined ? { is: 'unneeded' } : { is: 'defragment', member };
}

function isFragmented({ sizeBytes, inUseBytes }: LivingMember, limits: DefragmentationLimits): boolean {
  return sizeBytes >= limits.minimumBytes && (sizeBytes - inUseBytes) * 100 >= sizeBytes * limits.freePercent;
}

/**
 * Whether a member needs a smaller file to accept writes again, and a defragmentation gives it one. One that is already small enough is
 * left alone: a tenth of a small file can be free for good. Of a member whose quota is unknown only its last defragmentation tells that.
 */
function isWorthwhile(member: LivingMember, input: PlanInput): boolean {
  const { sizeBytes, inUseBytes, quotaBytes } = member;
  if (sizeBytes - inUseBytes < sizeBytes * worthwhilePart) return false;
  if (quotaBytes === 0) return !wasRecent(member, input);
  const relieved = quotaBytes * relievedPart;
  return sizeBytes >= relieved && inUseBytes < relieved;
}

function wasRecent({ endpoint }: LivingMember, { previous, now }: Pick<PlanInput, 'previous' | 'now'>): boolean {
  return previous.some((one) => one.endpoint === endpoint && now.getTime() - one.time.getTime() < pauseBetweenMs);
}

/** For how long the member may be blocked, by the slowest of the measured ones. */
function pauseMs({ inUseBytes }: LivingMember, { previous }: Pick<PlanInput, 'previous'>): number {
  // Of a short one, most is not the copy.
  const measured = previous.filter((one) => one.pauseMs >= 250).map((one) => (one.sizeBytes * 1000) / one.pauseMs);
  const rate = measured.length === 0 ? assumedBytesPerSecond : Math.min(...measured) / margin;
  return (inUseBytes * 1000) / Math.max(rate, 1);
}

function tooLong(member: LivingMember, input: PlanInput): Waits {
  const { endpoint, inUseBytes } = member;
  const seconds = Math.ceil(pauseMs(member, input) / 1000);
  const most = input.limits.maximumPauseMs / 1000;
  const message = `${endpoint} has ${mebibytes(inUseBytes)} in use and could be blocked for ${seconds} s, longer than maximumPauseSeconds (${most}): restart the members one after the other if etcd is started with --bootstrap-defrag-threshold-megabytes, or raise spec.etcd.defragmentation.maximumPauseSeconds`;
  return { is: 'waits', reason: 'PauseTooLong', message };
}

/** Why nothing may be done to this cluster. */
function reasonToWait({ answers, members, alarms }: Survey, living: readonly LivingMember[]): Waits | undefined {
  const waits = (reason: Waits['reason'], message: string): Waits => ({ is: 'waits', reason, message });
  const nameOf = (id: string): string => living.find(({ memberId }) => memberId === id)?.endpoint ?? `member ${id}`;
  const alarm = alarms.find(({ is }) => is === 'other');
  if (alarm !== undefined) {
    const help = 'find out why and repair it, then disarm the alarm';
    return waits('AlarmRaised', `${nameOf(alarm.memberId)} has raised the alarm ${alarm.text}: ${help}`);
  }
  const failures = answers.flatMap((answer) => ('failure' in answer ? [answer.failure] : []));
  if (failures.length > 0) return waits('MembersUnhealthy', unavailableError(failures).message);
  const endpointsOf = (id: string): readonly LivingMember[] => living.filter(({ memberId }) => memberId === id);
  const twice = living.find(({ memberId }) => endpointsOf(memberId).length > 1);
  if (twice !== undefined) {
    const names = endpointsOf(twice.memberId).map(({ endpoint }) => endpoint);
    const help = 'list every member once in spec.endpoints, and no address that leads to different members';
    return waits('MembersNotListed', `${names.join(' and ')} are the same member: ${help}`);
  }
  const unlisted = members.find(({ id }) => endpointsOf(id).length === 0);
  if (unlisted !== undefined) {
    const { name, id } = unlisted;
    const help = 'list every member in spec.endpoints, or remove it from the cluster';
    return waits('MembersNotListed', `member ${name === '' ? id : name} is not among spec.endpoints: ${help}`);
  }
  const foreign = living.find(({ memberId }) => members.every(({ id }) => id !== memberId));
  if (foreign !== undefined) {
    const help = 'list the members of one cluster in spec.endpoints';
    return waits('MembersNotListed', `${foreign.endpoint} belongs to another cluster: ${help}`);
  }
  const learner = living.find(({ isLearner }) => isLearner);
  if (learner !== undefined) {
    const help = 'promote it once it is in sync';
    return waits('MembersUnhealthy', `${learner.endpoint} is a learner, which does not vote yet: ${help}`);
  }
  const [first] = living;
  const undecided = living.find(({ leaderId }) => leaderId === '0' || leaderId !== first?.leaderId);
  if (undecided === undefined) return undefined;
  return waits('MembersUnhealthy', `${undecided.endpoint} does not know the same leader as the others, or none`);
}

/** What to do about a used-up quota when there is nothing to defragment. */
function relief({ alarms }: Survey, living: readonly LivingMember[]): Plan {
  const full = living.find(({ sizeBytes, quotaBytes }) => quotaBytes === 0 || sizeBytes >= quotaBytes * relievedPart);
  if (full === undefined) {
    return { is: 'disarm', memberIds: alarms.filter(({ is }) => is === 'space').map(({ memberId }) => memberId) };
  }
  const { endpoint, sizeBytes, inUseBytes, quotaBytes } = full;
  const sizes = `its file has ${mebibytes(sizeBytes)}, of which ${mebibytes(inUseBytes)} are in use`;
  const quota = quotaBytes === 0 ? 'the quota' : `the quota of ${mebibytes(quotaBytes)}`;
  const help = 'delete or migrate tenants, or raise --quota-backend-bytes; then etcdctl alarm disarm';
  const message = `${endpoint} has used up ${quota} and accepts no writes (${sizes}): ${help}`;
  return { is: 'waits', reason: 'SpaceExceeded', message };
}

/** A number of bytes for people. */
export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}
