import { core } from '../core/core-schema.ts';
import type { Infer } from '../schema.ts';
import { described, int32, obj, opt } from '../schema.ts';

/** How a HorizontalPodAutoscaler scales the pods of a control plane. */
export const autoscaling = obj(
  {
    minReplicas: described(int32({ minimum: 1 }), 'Minimum number of pods.'),
    maxReplicas: described(int32({ minimum: 1 }), 'Maximum number of pods.'),
    targetCPUUtilizationPercentage: opt(
      described(
        int32({ minimum: 1 }),
        'CPU that kube-apiserver should use on average, in percent of its CPU request, which must be set. Needs the metrics API, e.g. metrics-server.',
      ),
    ),
    targetInFlightRequests: opt(
      described(
        int32({ minimum: 1 }),
        'Requests in flight that each pod should have on average: the metric `apiserver_current_inflight_requests` of the pods. Needs an adapter that serves it in the custom metrics API.',
      ),
    ),
    behavior: opt(
      described(
        core('HorizontalPodAutoscalerBehavior'),
        'How fast pods are added and removed, as in a HorizontalPodAutoscaler.',
      ),
    ),
  },
  {
    rule: 'self.minReplicas <= self.maxReplicas',
    message: 'minReplicas must not be greater than maxReplicas',
    fieldPath: '.minReplicas',
  },
  {
    rule: 'has(self.targetCPUUtilizationPercentage) || has(self.targetInFlightRequests)',
    message: 'set targetCPUUtilizationPercentage, targetInFlightRequests or both',
  },
);
export type Autoscaling = Infer<typeof autoscaling>;
