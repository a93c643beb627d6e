import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { HorizontalPodAutoscaler } from '../../../api/core/kinds.ts';
import type { DraftOf, ObjectMeta } from '../../../api/meta.ts';
import type { DeploymentSpec } from '../../../api/steward/v1alpha1/deployment-spec.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { foreignAutoscalers, horizontalPodAutoscaler, validateAutoscaling } from './horizontal-pod-autoscaler.ts';

type Autoscaling = NonNullable<DeploymentSpec['autoscaling']>;

const cpu = { minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 80 };
const specOf = (autoscaling: Autoscaling): HorizontalPodAutoscaler['spec'] => {
  const [made] = horizontalPodAutoscaler(tenantControlPlaneWith({ deployment: { autoscaling } }));
  if (made === undefined) throw new Error('nothing was made');
  // As a request has it: without fields that are undefined.
  return (JSON.parse(JSON.stringify(made)) as DraftOf<HorizontalPodAutoscaler>).spec;
};

describe('The HorizontalPodAutoscaler', () => {
  test('scales the Deployment between the bounds by the CPU of kube-apiserver', () => {
    expect(specOf(cpu)).toEqual({
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'tenant' },
      minReplicas: 2,
      maxReplicas: 5,
      metrics: [
        {
          type: 'ContainerResource',
          containerResource: {
            name: 'cpu',
            container: 'kube-apiserver',
            target: { type: 'Utilization', averageUtilization: 80 },
          },
        },
      ],
    });
  });

  test('scales by the requests in flight of each pod, alone or in addition to CPU', () => {
    const inFlight = {
      type: 'Pods',
      pods: {
        metric: { name: 'apiserver_current_inflight_requests' },
        target: { type: 'AverageValue', averageValue: '150' },
      },
    };
    expect(specOf({ minReplicas: 1, maxReplicas: 2, targetInFlightRequests: 150 }).metrics).toEqual([inFlight]);
    expect(specOf({ ...cpu, targetInFlightRequests: 150 }).metrics?.slice(1)).toEqual([inFlight]);
  });

  test('has the given behavior', () => {
    const behavior = { scaleDown: { stabilizationWindowSeconds: 600 } };
    expect(specOf({ ...cpu, behavior }).behavior).toEqual(behavior);
  });

  test('does not exist for a control plane that sleeps or is not autoscaled', () => {
    expect(horizontalPodAutoscaler(tenantControlPlaneWith({ deployment: { replicas: 0, autoscaling: cpu } }))).toEqual(
      [],
    );
    expect(horizontalPodAutoscaler(tenantControlPlaneWith())).toEqual([]);
  });
});

describe('A HorizontalPodAutoscaler that Steward did not create', () => {
  const tcp = tenantControlPlaneWith({ deployment: { autoscaling: cpu } });
  const scaling = (kind: string, name: string, metadata: ObjectMeta = {}): HorizontalPodAutoscaler => ({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: storedMeta({ name: 'theirs', namespace: 'default', ...metadata }),
    spec: { scaleTargetRef: { kind, name }, maxReplicas: 3 },
  });

  test('counts if it scales the Deployment of the control plane', () => {
    expect(foreignAutoscalers(tcp, [scaling('Deployment', 'tenant')])).toEqual(['theirs']);
  });

  test.each([
    ['another Deployment', scaling('Deployment', 'other')],
    ['another kind', scaling('StatefulSet', 'tenant')],
    ['the Deployment but goes away', scaling('Deployment', 'tenant', { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    [
      'the Deployment and is ours',
      scaling('Deployment', 'tenant', {
        ownerReferences: [{ uid: tcp.metadata.uid, kind: '', name: '', apiVersion: '' }],
      }),
    ],
  ])('does not count if it scales %s', (_what, other) => {
    expect(foreignAutoscalers(tcp, [other])).toEqual([]);
  });
});

describe('A CPU target', () => {
  const refused = (deployment: Partial<DeploymentSpec>): readonly string[] =>
    validateAutoscaling(tenantControlPlaneWith({ deployment })).map(({ field }) => field);

  test('is refused without a CPU request of kube-apiserver', () => {
    const field = 'spec.controlPlane.deployment.autoscaling.targetCPUUtilizationPercentage';
    expect(refused({ autoscaling: cpu })).toEqual([field]);
    const others = { requests: { cpu: '1' }, apiServer: { requests: { memory: '1Gi' } } };
    expect(refused({ autoscaling: cpu, resources: others })).toEqual([field]);
  });

  test.each<[string, NonNullable<DeploymentSpec['resources']>]>([
    ['a request of its own', { apiServer: { requests: { cpu: '100m' } } }],
    ['a limit, which Kubernetes takes for the request', { apiServer: { limits: { cpu: 1 } } }],
    ['the request of every container', { requests: { cpu: '100m' } }],
  ])('is admitted with %s', (_what, resources) => {
    expect(refused({ autoscaling: cpu, resources })).toEqual([]);
  });

  test('is what needs it: requests in flight do not', () => {
    expect(refused({ autoscaling: { minReplicas: 1, maxReplicas: 2, targetInFlightRequests: 9 } })).toEqual([]);
  });
});
