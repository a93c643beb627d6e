import { requirementProblem } from '../../../api/core/label-selector.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';

/** What is wrong with the wishes for a DataStore that is to be chosen: what the schema lets pass and nothing can fulfil. */
export function placementComplaints({ spec }: TenantControlPlane): readonly InvalidInput[] {
  return (spec.dataStoreSelector?.matchExpressions ?? []).flatMap((requirement, index): readonly InvalidInput[] => {
    const reason = requirementProblem(requirement);
    if (reason === undefined) return [];
    const field = `spec.dataStoreSelector.matchExpressions[${index}]`;
    const remedy = 'use In or NotIn with values, Exists or DoesNotExist without';
    return [{ field, value: requirement.key, reason, remedy }];
  });
}

/** What a person should know of wishes that are admitted and mean nothing. */
export function placementWarnings({ spec }: TenantControlPlane): readonly string[] {
  if ((spec.dataStoreTolerations ?? []).length === 0 || (spec.dataStore ?? '') === '') return [];
  return [`spec.dataStoreTolerations mean nothing: spec.dataStore names ${spec.dataStore ?? ''}, so none is chosen`];
}
