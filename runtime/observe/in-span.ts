import { SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Span } from '@opentelemetry/api';

/**
 * Runs a piece of work as a span of OpenTelemetry: what runs inside becomes its children. Costs next to nothing while spans are not
 * collected. An error that is thrown marks the span and is thrown on.
 */
export function inSpan<T>(name: string, attributes: Attributes, work: (span: Span) => Promise<T>): Promise<T> {
  return trace.getTracer('steward').startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      failSpan(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Marks a span as failed for a reason that is not thrown. */
export function failSpan(span: Span, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** Records a piece of work that has just ended, as a child of the span that runs. */
export function pastSpan(name: string, attributes: Attributes, ms: number): void {
  const now = Date.now();
  trace
    .getTracer('steward')
    .startSpan(name, { attributes, startTime: now - ms })
    .end(now);
}
