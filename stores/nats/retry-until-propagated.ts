import { setTimeout as delay } from 'node:timers/promises';
import { isRefusal, isUnanswered } from './errors.ts';

/** How long servers are given to take an account in; `step` is the pause between two attempts. Milliseconds. */
export interface RetryLimits {
  readonly within: number;
  readonly step: number;
}

const usual: RetryLimits = { within: 5000, step: 100 };

/**
 * Runs a call of the JetStream API in an account that may just have been created. A server confirms an account before JetStream is enabled
 * for it, and in a cluster another server may answer: until then the request is refused or has no responders, and is repeated. Such a
 * request has no effect. Throws what the last attempt threw.
 */
export async function onceSettled<T>(work: () => Promise<T>, limits: RetryLimits = usual): Promise<T> {
  const end = performance.now() + limits.within;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isUnsettled(error) || performance.now() >= end) throw error;
      await delay(limits.step);
    }
  }
}

function isUnsettled(error: unknown): boolean {
  return isUnanswered(error) || isRefusal(error, 'notForAccount') || isRefusal(error, 'notYet');
}
