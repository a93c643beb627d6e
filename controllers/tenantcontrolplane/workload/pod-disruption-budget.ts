import { isSelected } from '../../../api/core/label-selector.ts';
import type { PodDisruptionBudget } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { podSelector } from '../shared/pod-selector.ts';
import { mostReplicas } from '../shared/replicas.ts';
import { ownedManifest } from '../shared/owned-manifest.ts';

/** Value of the component label on the budget. */
export const budgetComponent = 'pod-disruption-budget';

/**
 * Lets evictions take the pods of a control plane one after another. A single pod has no budget: it would block every drain of
 * its node. Pods that are not ready may always be evicted, since they would block a drain as well
 * (https://kubernetes.io/docs/tasks/run-application/configure-pdb/#unhealthy-pod-eviction-policy).
 */
export function podDisruptionBudget(tcp: TenantControlPlane): readonly Manifest[] {
  if (mostReplicas(tcp) < 2) return [];
  return [
    ownedManifest(tcp, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      name: tenantObjects(tcp.metadata.name).podDisruptionBudget,
      component: budgetComponent,
      body: {
        spec: {
          maxUnavailable: 1,
          selector: { matchLabels: podSelector(tcp) },
          unhealthyPodEvictionPolicy: 'AlwaysAllow',
        },
      },
    }),
  ];
}

/**
 * Names of those `budgets` of others that cover pods with these labels. The API server refuses every eviction of a pod that two
 * budgets cover.
 */
export function foreignBudgets(
  tcp: TenantControlPlane,
  labels: Readonly<Record<string, string>>,
  budgets: readonly PodDisruptionBudget[],
): readonly string[] {
  return budgets
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === tcp.metadata.uid) !== true)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(({ spec }) => spec?.selector !== undefined && isSelected(labels, spec.selector))
    .map(({ metadata }) => metadata.name)
    .sort();
}
