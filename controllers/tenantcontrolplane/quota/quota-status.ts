import { numberOf } from '../../../api/quantity.ts';
import type { QuotaStatus } from '../../../api/steward/v1alpha1/quota-status.ts';
import type { QuotaFacts } from './quota-facts.ts';

/** Changes below this part of a limit are recorded with the next one, or after `recordedMs`. */
const notable = 0.01;

/** The same for a rate, which is never the same twice. */
const notableRate = 0.1;

/** The record is kept this young, in milliseconds: a manager that starts decides by it. */
const recordedMs = 2 * 60_000;

/** True when what is used now is so different from what is recorded, or so much newer, that it has to be recorded. */
export function isNotable(before: QuotaStatus | undefined, now: QuotaStatus): boolean {
  if (before?.blocked !== now.blocked || before.overdrawn !== now.overdrawn) return true;
  if (before.reached?.join() !== now.reached?.join()) return true;
  if (before.used === undefined || before.measuredTime === undefined) return now.used !== undefined;
  if (now.used === undefined || now.measuredTime === undefined) return false;
  if (Date.parse(now.measuredTime) - Date.parse(before.measuredTime) >= recordedMs) return true;
  const [was, is] = [before.used, now.used];
  const differs = (name: keyof typeof is, part: number): boolean =>
    now.hard[name] !== undefined && Math.abs(figure(was[name]) - figure(is[name])) >= part * figure(now.hard[name]);
  return differs('dataSize', notable) || differs('objects', notable) || differs('writesPerSecond', notableRate);
}

const figure = (value: number | string | undefined): number => (value === undefined ? 0 : (numberOf(value) ?? 0));

/** The status after a reconcile that found these facts; that before where it found none. */
export function quotaStatusAfter(
  before: QuotaStatus | undefined,
  facts: QuotaFacts | undefined,
): QuotaStatus | undefined {
  if (facts === undefined) return before;
  if (facts.decision === undefined) return undefined;
  const { status: decided } = facts.decision;
  const status = facts.tooOld === undefined ? decided : unblocked(decided);
  // Otherwise every reconcile would change the object.
  return before === undefined || isNotable(before, status) ? status : { ...before, hard: status.hard };
}

/** The status of a tenant that cannot be blocked. */
export function unblocked({ hard, used, measuredTime }: QuotaStatus): QuotaStatus {
  return {
    ...{ hard, blocked: false },
    ...(used !== undefined && { used }),
    ...(measuredTime !== undefined && { measuredTime }),
  };
}
