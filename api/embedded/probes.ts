import type { Infer } from '../schema.ts';
import { described, int32, obj, opt } from '../schema.ts';

/** The numbers of a probe, with the names and the meaning that they have in Kubernetes. */
const probeTiming = obj({
  initialDelaySeconds: opt(int32({ minimum: 0 })),
  timeoutSeconds: opt(int32({ minimum: 1 })),
  periodSeconds: opt(int32({ minimum: 1 })),
  successThreshold: opt(described(int32({ minimum: 1 }), 'Values above 1 are valid for the readiness probe only.')),
  failureThreshold: opt(int32({ minimum: 1 })),
});

/** The probes of one program. */
export const probeTimingFields = {
  liveness: opt(described(probeTiming, 'Timing of the probe that restarts the container when it fails.')),
  readiness: opt(described(probeTiming, 'Timing of the probe that keeps requests away while it fails.')),
  startup: opt(described(probeTiming, 'Timing of the probe that delays the others until it succeeds.')),
} as const;

/** Probe timing of one program. What the probes check cannot be configured. */
export const probeTimings = described(obj(probeTimingFields), 'Probe timing. Unset fields keep their defaults.');
export type ProbeTimings = Infer<typeof probeTimings>;
