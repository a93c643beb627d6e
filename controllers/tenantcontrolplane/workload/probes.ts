import type { ProbeTimings } from '../../../api/embedded/probes.ts';
import type { Container, Probe } from '../shared/pod-parts.ts';

/** The health endpoints of a component. */
export interface Health {
  readonly port: number;
  readonly live: string;
  /** Absent: the component takes no traffic, and is ready once it has started. */
  readonly ready?: string;
}

/**
 * Probes that run every second, so that readiness is noticed at once. A component may take two minutes to start; a running one is
 * restarted after 30 seconds without an answer, and gets no calls after 18, since a slow answer must not become an outage: without its
 * only server, a Service refuses every call. The author's timing wins; settings for this component win over those for all.
 */
export function probes(
  health: Health,
  all: ProbeTimings = {},
  own: ProbeTimings = {},
): Pick<Container, 'startupProbe' | 'livenessProbe' | 'readinessProbe'> {
  const ask = (path: string): Probe => ({
    httpGet: { path, port: health.port, scheme: 'HTTPS' },
    periodSeconds: 1,
    successThreshold: 1,
    timeoutSeconds: 1,
  });
  // An author who sets the timing of a readiness probe gets one, even if the component has none by default.
  const ready = health.ready ?? (own.readiness === undefined ? undefined : health.live);
  return {
    startupProbe: { ...ask(health.live), failureThreshold: 120, ...all.startup, ...own.startup },
    livenessProbe: {
      ...ask(health.live),
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 3,
      ...all.liveness,
      ...own.liveness,
    },
    ...(ready !== undefined && {
      readinessProbe: { ...ask(ready), timeoutSeconds: 3, failureThreshold: 6, ...all.readiness, ...own.readiness },
    }),
  };
}
