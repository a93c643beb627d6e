import type { ProbeTimings } from '../../../api/embedded/probes.ts';
import type { Container, Probe } from './pod-parts.ts';

/** Where a component tells about itself. */
export interface Health {
  readonly port: number;
  readonly live: string;
  /** Absent: the component takes no traffic, and a started one is ready. */
  readonly ready?: string;
}

/**
 * Probes that ask every second, so that a control plane is known to work when it works. A component may take two minutes
 * to start; a running one is restarted after 30 seconds of silence, since a slow answer must not become an outage. The author's
 * timing wins, that for this component over that for all.
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
  // Whoever times the readiness of a component that has none wants one.
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
      readinessProbe: { ...ask(ready), timeoutSeconds: 3, failureThreshold: 3, ...all.readiness, ...own.readiness },
    }),
  };
}
