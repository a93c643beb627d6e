import type { WaitsElsewhere } from './controller.ts';
import type { Report } from './phases.ts';

/** The default delay until a request to a server elsewhere is repeated. */
const elsewhereMs = 1_000;

/**
 * What a report requests from the queue: `error` if phases failed (an AggregateError if there are several), `afterMs` as
 * the earliest requeue of a phase, `elsewhere` if phases wait for servers elsewhere, `hasMore` if one made progress in work
 * that takes several reconciles. Spread it into a ReconcileResult.
 */
export function resultOf<S>(report: Report<S>): {
  readonly error?: unknown;
  readonly afterMs?: number;
  readonly elsewhere?: WaitsElsewhere;
  readonly hasMore?: boolean;
} {
  const errors = report.lines.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const delays: number[] = [];
  const elsewhere: WaitsElsewhere[] = [];
  for (const { outcome } of report.lines) {
    if (outcome?.is === 'waiting' && outcome.elsewhere !== undefined) {
      elsewhere.push({ error: outcome.elsewhere, afterMs: outcome.afterMs ?? elsewhereMs });
    } else if (outcome?.afterMs !== undefined) delays.push(outcome.afterMs);
  }
  const hasMore = report.lines.some(({ outcome }) => outcome?.is === 'done' && outcome.hasMore === true);
  return {
    ...(errors.length === 0
      ? {}
      : { error: errors.length === 1 ? errors[0] : new AggregateError(errors, 'several phases failed') }),
    ...(delays.length === 0 ? {} : { afterMs: Math.min(...delays) }),
    ...(elsewhere.length === 0 ? {} : { elsewhere: all(elsewhere) }),
    ...(hasMore && { hasMore }),
  };
}

function all(waits: readonly WaitsElsewhere[]): WaitsElsewhere {
  const [first] = waits;
  if (waits.length === 1 && first !== undefined) return first;
  const error = new AggregateError(
    waits.map((one) => one.error),
    'several phases wait for other servers',
  );
  return { error, afterMs: Math.min(...waits.map(({ afterMs }) => afterMs)) };
}
