import { setTimeout as pause } from 'node:timers/promises';

import { context, diag, DiagLogLevel, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';

import type { Logger } from '../runtime/observe/logger.ts';
import type { Closing } from './closing.ts';
import type { ManagerSettings } from './flags/manager-settings.ts';
import { version } from './version.ts';

/** With what spans are sent. */
export interface TracingParts {
  readonly settings: Pick<ManagerSettings, 'tracing' | 'podName' | 'podNamespace'>;
  readonly log: Logger;
  readonly closing: Closing;
}

/** How long spans are sent, with repeats; the end of the process waits no longer for the last ones. In milliseconds. */
const sendMs = 2000;

/**
 * Sends spans of reconciles, their phases and requests to a collector, over HTTP with OTLP, if the settings name one. A collector
 * that does not answer costs spans and nothing else. It is process-wide, as OpenTelemetry is.
 */
export function startTracing({ settings: { tracing, podName, podNamespace }, log, closing }: TracingParts): void {
  if (tracing === undefined) return;
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'steward',
      'service.version': version,
      'service.instance.id': podName,
      'k8s.pod.name': podName,
      'k8s.namespace.name': podNamespace,
    }),
    sampler: new TraceIdRatioBasedSampler(tracing.ratio),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: tracing.endpoint, timeoutMillis: sendMs }) }),
    ],
  });
  const said = (level: 'warn' | 'error') => (message: string) => {
    log[level]('tracing', { message });
  };
  const ignored = (): void => undefined;
  diag.setLogger(
    { error: said('error'), warn: said('warn'), info: ignored, debug: ignored, verbose: ignored },
    DiagLogLevel.WARN,
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  closing.add(provider, async (open) => {
    await Promise.race([open.shutdown().catch(ignored), pause(sendMs, undefined, { ref: false })]);
    trace.disable();
    context.disable();
    diag.disable();
  });
}
