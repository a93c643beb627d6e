import type { Condition } from '../../api/meta.ts';
import { ApiError, RetryError, TerminalError, UnreachableError } from '../client/errors.ts';
import type { Report, ReportLine } from './phases.ts';

/** A condition as a builder states it; `setCondition` adds the times. */
export type NewCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** Reasons that the machine itself gives. Kinds have more of their own. */
export const machineReasons = {
  /** The phase is done. */
  succeeded: 'Succeeded',
  /** A phase that this one needs is not done. */
  blocked: 'Blocked',
  /** An error without a reason of its own; it is retried with backoff. */
  failed: 'Failed',
  /** No answer from an API server. */
  unreachable: 'Unreachable',
  /** Nothing has been reported yet. */
  unreported: 'NotReported',
} as const;

/** The longest message that meta/v1 admits. */
const longestMessage = 32_768;

/**
 * The list with `next` in it. `lastTransitionTime` moves only when the status does; the very same list is returned when
 * nothing changes. Other conditions and their order are left alone.
 */
export function setCondition(
  list: readonly Condition[],
  next: NewCondition,
  at: { readonly generation: number; readonly now: Date },
): readonly Condition[] {
  const before = list.find(({ type }) => type === next.type);
  const after: Condition = {
    type: next.type,
    status: next.status,
    observedGeneration: at.generation,
    lastTransitionTime: before?.status === next.status ? before.lastTransitionTime : secondsOf(at.now),
    reason: next.reason,
    message: shorten(next.message),
  };
  if (before === undefined) return [...list, after];
  if (same(before, after)) return list;
  return list.map((condition) => (condition === before ? after : condition));
}

/** `setCondition` for several, in their order. */
export function setConditions(
  list: readonly Condition[],
  next: readonly NewCondition[],
  at: { readonly generation: number; readonly now: Date },
): readonly Condition[] {
  return next.reduce((conditions, one) => setCondition(conditions, one, at), list);
}

/** The list without conditions of these types; the very same list when there are none. */
export function withoutConditions(list: readonly Condition[], types: readonly string[]): readonly Condition[] {
  const kept = list.filter(({ type }) => !types.includes(type));
  return kept.length === list.length ? list : kept;
}

/** True when the condition is there and True. */
export function isTrue(list: readonly Condition[] | undefined, type: string): boolean {
  return list?.find((condition) => condition.type === type)?.status === 'True';
}

/**
 * One condition over several: True when all `parts` are, False when any is False, Unknown otherwise (a part that is
 * absent is unknown). The reason is that of the first part to blame, in the order of `parts`; the message names all.
 */
export function summarize(list: readonly Condition[], parts: readonly string[], into: string): NewCondition {
  const all = parts.map((type): NewCondition => list.find((condition) => condition.type === type) ?? unreported(type));
  const falses = all.filter(({ status }) => status === 'False');
  const blame = falses.length > 0 ? falses : all.filter(({ status }) => status === 'Unknown');
  const first = blame[0];
  if (first === undefined) return { type: into, status: 'True', reason: into, message: '' };
  const message = blame.map(({ type, message, reason }) => `${type}: ${message === '' ? reason : message}`).join('; ');
  return { type: into, status: first.status, reason: first.reason, message };
}

/**
 * What a report says, one condition per type that a phase answers for: done is True, waiting and failed are False,
 * blocked is Unknown. When several phases answer for one type, the worst of them counts; when all are done, their messages
 * are joined.
 */
export function conditionsOf<S>(report: Report<S>): readonly NewCondition[] {
  const worst = new Map<string, NewCondition>();
  for (const line of report.lines) {
    const { condition: type, isSilentWhenBlocked = false } = line.phase;
    if (type === undefined || (isSilentWhenBlocked && line.blockedBy !== undefined)) continue;
    const next = { type, ...verdictOf(line, report) };
    const before = worst.get(type);
    if (before === undefined || severity[next.status] > severity[before.status]) worst.set(type, next);
    else if (next.status === 'True' && before.status === 'True')
      worst.set(type, { ...before, message: joined(before, next) });
  }
  return [...worst.values()];
}

/** The texts of both, each once. */
function joined(first: NewCondition, second: NewCondition): string {
  if (second.message === '' || first.message.includes(second.message)) return first.message;
  return first.message === '' ? second.message : `${first.message}; ${second.message}`;
}

const severity = { True: 0, Unknown: 1, False: 2 } as const;

/** What meta/v1 admits as a reason. A tenant's webhooks can let its API server give any other, and the status would be refused. */
const reasonPattern = /^[A-Za-z](?:[A-Za-z0-9_,:]{0,1022}[A-Za-z0-9_])?$/;

/** A condition's reason for an error: its own where it has one. */
export function reasonOf(error: unknown): string {
  if (error instanceof TerminalError || error instanceof RetryError) return error.reason;
  if (error instanceof UnreachableError) return machineReasons.unreachable;
  if (error instanceof ApiError && reasonPattern.test(error.reason)) return error.reason;
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return machineReasons.failed;
}

/** An error as text for a person; a group of errors contains each message. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

type Verdict = Omit<NewCondition, 'type'>;

function verdictOf<S>(line: ReportLine<S>, report: Report<S>): Verdict {
  const { outcome, error, blockedBy } = line;
  if (outcome?.is === 'done') {
    return { status: 'True', reason: machineReasons.succeeded, message: outcome.message ?? '' };
  }
  if (outcome?.is === 'waiting') return { status: 'False', reason: outcome.reason, message: outcome.message };
  if (blockedBy === undefined) return { status: 'False', reason: reasonOf(error), message: messageOf(error) };
  const root = report.lines.find(({ phase }) => phase.name === blockedBy);
  const why = root === undefined || root.blockedBy !== undefined ? '' : `: ${verdictOf(root, report).message}`;
  // `definePhases` sees to it that the phase has a condition: people can look it up, but not the name of a phase.
  const message = `waiting for ${root?.phase.condition ?? blockedBy}${why}`;
  return { status: 'Unknown', reason: machineReasons.blocked, message };
}

function unreported(type: string): NewCondition {
  return { type, status: 'Unknown', reason: machineReasons.unreported, message: 'not reported yet' };
}

function same(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  );
}

function shorten(message: string): string {
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage - 1)}…`;
}

/** RFC 3339 in whole seconds, as metav1.Time is written. */
function secondsOf(date: Date): string {
  return date.toISOString().replace(/\.\d{3}Z$/, 'Z');
}
