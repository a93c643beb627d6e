import type { Infer } from '../schema.ts';
import { described, int32, obj, opt } from '../schema.ts';

const probeTiming = obj({
  initialDelaySeconds: opt(
    described(int32({ minimum: 0 }), 'Seconds between the start of the container and the first check.'),
  ),
  timeoutSeconds: opt(described(int32({ minimum: 1 }), 'Seconds after which a check without an answer has failed.')),
  periodSeconds: opt(described(int32({ minimum: 1 }), 'Seconds between two checks.')),
  successThreshold: opt(
    described(
      int32({ minimum: 1 }),
      'Number of successful checks in a row after which the probe succeeds. Values above 1 are valid for the readiness probe only.',
    ),
  ),
  failureThreshold: opt(
    described(int32({ minimum: 1 }), 'Number of failed checks in a row after which the probe fails.'),
  ),
});

/** The probes of one program. */
export const probeTimingFields = {
  liveness: opt(described(probeTiming, 'Timing of the liveness probe. If it fails, the container is restarted.')),
  readiness: opt(described(probeTiming, 'Timing of the readiness probe. While it fails, the pod gets no requests.')),
  startup: opt(
    described(
      probeTiming,
      'Timing of the startup probe. Until it succeeds, the other probes wait. If it fails, the container is restarted.',
    ),
  ),
} as const;

/** Probe timing of one program. What the probes check cannot be configured. */
export const probeTimings = described(obj(probeTimingFields), 'Probe timing. Unset fields keep their defaults.');
export type ProbeTimings = Infer<typeof probeTimings>;
