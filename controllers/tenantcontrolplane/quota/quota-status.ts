import { numberOf } from '../../../api/quantity.ts';
import type { QuotaStatus } from '../../../api/steward/v1alpha1/quota-status.ts';
import type { QuotaFacts } from './quota-facts.ts';

/** Changes below this part of a limit are recorded with the next one, or after `recordedMs`. */
const notable = 0.01;

/** The record is kept this young, in milliseconds: a manager that starts decides by it. */
const recordedMs = 2 * 60_000;

/** True when what is used now is so different from what is recorded, or so much newer, that it has to be recorded. */
export function isNotable(before: QuotaStatus | undefined, now: QuotaStatus): boolean {
  if (before?.blocked !== now.blocked) return true;
  if (before.used === undefined || before.measuredTime === undefined) return now.used !== undefined;
  if (now.used === undefined || now.measuredTime === undefined) return false;
  if (Date.parse(now.measuredTime) - Date.parse(before.measuredTime) >= recordedMs) return true;
  const differs = (was: number | string, is: number | string, hard: number | string | undefined): boolean =>
    hard !== undefined && Math.abs((numberOf(was) ?? 0) - (numberOf(is) ?? 0)) >= notable * (numberOf(hard) ?? 0);
  return (
    differs(before.used.dataSize, now.used.dataSize, now.hard.dataSize) ||
    differs(before.used.objects, now.used.objects, now.hard.objects)
  );
}

/** The status after a reconcile that found these facts; that before where it found none. */
export function quotaStatusAfter(
  before: QuotaStatus | undefined,
  facts: QuotaFacts | undefined,
): QuotaStatus | undefined {
  if (facts === undefined) return before;
  if (facts.decision === undefined) return undefined;
  const { status: decided } = facts.decision;
  const status = { ...decided, blocked: decided.blocked && facts.tooOld === undefined };
  // Otherwise every reconcile would change the object.
  return before === undefined || isNotable(before, status) ? status : { ...before, hard: status.hard };
}
