import type { HorizontalPodAutoscaler } from '../../../api/core/kinds.ts';
import type { Autoscaling } from '../../../api/embedded/autoscaling.ts';
import type { Manifest } from '../../../api/meta.ts';
import { containers, tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { ownedManifest } from '../shared/owned-manifest.ts';
import { autoscalingOf } from '../shared/replicas.ts';
import { sharedResources } from '../shared/shared-resources.ts';

/** Value of the component label on the autoscaler. */
export const autoscalerComponent = 'horizontal-pod-autoscaler';

/** The metric of kube-apiserver that counts the requests which it is handling. */
export const inFlightMetric = 'apiserver_current_inflight_requests';

/**
 * Scales the Deployment of a control plane between the bounds of its spec. Only kube-apiserver counts: controller manager and
 * scheduler work in one pod at a time, and the other containers need no CPU request this way.
 */
export function horizontalPodAutoscaler(tcp: TenantControlPlane): readonly Manifest[] {
  const wanted = autoscalingOf(tcp);
  if (wanted === undefined) return [];
  const names = tenantObjects(tcp.metadata.name);
  const { minReplicas, maxReplicas, behavior } = wanted;
  return [
    ownedManifest(tcp, {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      name: names.horizontalPodAutoscaler,
      component: autoscalerComponent,
      body: {
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: names.deployment },
          minReplicas,
          maxReplicas,
          metrics: metrics(wanted),
          behavior,
        },
      },
    }),
  ];
}

function metrics({ targetCPUUtilizationPercentage, targetInFlightRequests }: Autoscaling): readonly object[] {
  const cpu = {
    type: 'ContainerResource',
    containerResource: {
      name: 'cpu',
      container: containers.apiServer,
      target: { type: 'Utilization', averageUtilization: targetCPUUtilizationPercentage },
    },
  };
  const inFlight = {
    type: 'Pods',
    pods: {
      metric: { name: inFlightMetric },
      target: { type: 'AverageValue', averageValue: String(targetInFlightRequests) },
    },
  };
  return [
    ...(targetCPUUtilizationPercentage === undefined ? [] : [cpu]),
    ...(targetInFlightRequests === undefined ? [] : [inFlight]),
  ];
}

/**
 * Names of those `autoscalers` of others that scale the Deployment as well: two autoscalers of one Deployment would revert each
 * other's changes forever.
 */
export function foreignAutoscalers(
  tcp: TenantControlPlane,
  autoscalers: readonly HorizontalPodAutoscaler[],
): readonly string[] {
  const { deployment } = tenantObjects(tcp.metadata.name);
  return autoscalers
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === tcp.metadata.uid) !== true)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(({ spec }) => spec.scaleTargetRef.kind === 'Deployment' && spec.scaleTargetRef.name === deployment)
    .map(({ metadata }) => metadata.name)
    .sort();
}

/** What admission refuses: a share of a CPU request that there is not. Kubernetes takes a limit for a request that is missing. */
export function validateAutoscaling(tcp: TenantControlPlane): readonly InvalidInput[] {
  const { autoscaling, resources } = tcp.spec.controlPlane.deployment;
  const target = autoscaling?.targetCPUUtilizationPercentage;
  const { requests, limits } = resources?.apiServer ?? sharedResources(tcp) ?? {};
  if (target === undefined || (requests?.cpu ?? limits?.cpu) !== undefined) return [];
  return [
    {
      field: 'spec.controlPlane.deployment.autoscaling.targetCPUUtilizationPercentage',
      value: String(target),
      reason: 'is a share of the CPU request of kube-apiserver, which is not set',
      remedy: 'set spec.controlPlane.deployment.resources.apiServer.requests.cpu',
    },
  ];
}
