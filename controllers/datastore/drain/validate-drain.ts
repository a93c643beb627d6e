import { requirementProblem } from '../../../api/core/label-selector.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';

/** The validation errors of `spec.drain` that its schema cannot express. */
export function validateDrain({ spec }: DataStore): readonly InvalidInput[] {
  return (spec.drain?.targetSelector?.matchExpressions ?? []).flatMap((requirement, index) => {
    const reason = requirementProblem(requirement);
    const field = `spec.drain.targetSelector.matchExpressions[${index}]`;
    const remedy = 'use In or NotIn with values, or Exists or DoesNotExist without values';
    return reason === undefined ? [] : [{ field, value: requirement.key, reason, remedy }];
  });
}
