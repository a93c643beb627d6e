import { stateCondition } from '../../api/conditions.ts';
import type {
  KubeconfigGenerator,
  KubeconfigGeneratorStatus,
} from '../../api/steward/v1alpha1/kubeconfig-generator.ts';
import { setConditions } from '../../runtime/reconcile/conditions.ts';

/** A tenant without its kubeconfig. */
export interface Missing {
  /** As `namespace/name`. */
  readonly resource: string;
  readonly message: string;
}

/** The whole status after a reconcile. */
export function statusOf(
  generator: KubeconfigGenerator,
  found: { readonly selected: number; readonly missing: readonly Missing[] },
  now: Date,
): KubeconfigGeneratorStatus {
  const { selected, missing } = found;
  const generation = generator.metadata.generation;
  const first = missing[0];
  const ready = stateCondition(
    'KubeconfigGenerator',
    first === undefined
      ? { type: 'Ready', status: 'True', reason: 'Ready', message: '' }
      : {
          type: 'Ready',
          status: 'False',
          reason: 'NotReady',
          message: `${missing.length} of ${selected} TenantControlPlanes have no kubeconfig; ${first.resource}: ${first.message}`,
        },
  );
  return {
    observedGeneration: generation,
    conditions: setConditions(generator.status?.conditions ?? [], [ready], { generation, now }),
    resources: selected,
    availableResources: selected - missing.length,
    errors: missing,
  };
}
