import { requirementProblem } from '../../../../api/core/label-selector.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';

/** Validates the selector for DataStores: refuses requirements that the schema allows but that no labels can meet. */
export function validatePlacement({ spec }: TenantControlPlane): readonly InvalidInput[] {
  return (spec.dataStoreSelector?.matchExpressions ?? []).flatMap((requirement, index): readonly InvalidInput[] => {
    const reason = requirementProblem(requirement);
    if (reason === undefined) return [];
    const field = `spec.dataStoreSelector.matchExpressions[${index}]`;
    const remedy = 'use In or NotIn with values, or Exists or DoesNotExist without values';
    return [{ field, value: requirement.key, reason, remedy }];
  });
}

/** Warnings about settings that are admitted but have no effect. */
export function placementWarnings({ spec }: TenantControlPlane): readonly string[] {
  if ((spec.dataStoreTolerations ?? []).length === 0 || (spec.dataStore ?? '') === '') return [];
  return [
    `spec.dataStoreTolerations has no effect: spec.dataStore names ${spec.dataStore ?? ''}, so no placement takes place`,
  ];
}
