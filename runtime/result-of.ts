import type { Report } from './phases.ts';

/**
 * What a report asks of the queue: `error` when phases failed (all of them in an AggregateError when there are several),
 * `afterMs` as the earliest wish of a phase. Spread it into a Visit.
 */
export function resultOf<S>(report: Report<S>): { readonly error?: unknown; readonly afterMs?: number } {
  const errors = report.lines.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const wishes = report.lines.flatMap(({ outcome }) => outcome?.afterMs ?? []);
  return {
    ...(errors.length === 0
      ? {}
      : { error: errors.length === 1 ? errors[0] : new AggregateError(errors, 'several phases failed') }),
    ...(wishes.length === 0 ? {} : { afterMs: Math.min(...wishes) }),
  };
}
