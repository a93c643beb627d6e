import type { Infer } from '../schema.ts';
import { described, int32, obj, opt } from '../schema.ts';

const probeTiming = obj({
  initialDelaySeconds: opt(int32({ minimum: 0 })),
  timeoutSeconds: opt(int32({ minimum: 1 })),
  periodSeconds: opt(int32({ minimum: 1 })),
  successThreshold: opt(described(int32({ minimum: 1 }), 'More than 1 is for the readiness probe only.')),
  failureThreshold: opt(int32({ minimum: 1 })),
});

/** The probes of one program. */
export const probeTimingFields = {
  liveness: opt(probeTiming),
  readiness: opt(probeTiming),
  startup: opt(probeTiming),
} as const;

/** Timing of the probes of one program; what they ask is not the author's choice. */
export const probeTimings = described(
  obj(probeTimingFields),
  'Timing of the probes; what is left out keeps its default.',
);
export type ProbeTimings = Infer<typeof probeTimings>;
