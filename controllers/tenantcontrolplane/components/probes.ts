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
 * to start; a running one is restarted after 30 seconds of silence, since a slow answer must not become an outage.
 */
export function probes(health: Health): Pick<Container, 'startupProbe' | 'livenessProbe' | 'readinessProbe'> {
  const ask = (path: string): Probe => ({
    httpGet: { path, port: health.port, scheme: 'HTTPS' },
    periodSeconds: 1,
    successThreshold: 1,
    timeoutSeconds: 1,
  });
  return {
    startupProbe: { ...ask(health.live), failureThreshold: 120 },
    livenessProbe: { ...ask(health.live), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
    ...(health.ready !== undefined && {
      readinessProbe: { ...ask(health.ready), timeoutSeconds: 3, failureThreshold: 3 },
    }),
  };
}
