import { conditionList } from '../embedded/condition-list.ts';
import type { Infer } from '../schema.ts';
import { bool, described, int32, int64, listMap, obj, opt, str, time } from '../schema.ts';

/**
 * Observed state of a StewardControlPlane: the fields of the Cluster API contracts v1beta2 and v1beta1, side by side.
 * No field is required, so that either contract can be read from the first write on.
 */
export const stewardControlPlaneStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
  initialization: opt(
    described(
      obj({
        controlPlaneInitialized: opt(
          described(bool(), 'True once the API server has responded. Stays true afterwards.'),
        ),
      }),
      'What Cluster API waits for before it creates workers, for contract v1beta2.',
    ),
  ),
  initialized: opt(described(bool(), 'Same as `initialization.controlPlaneInitialized`, for contract v1beta1.')),
  ready: opt(described(bool(), 'Whether the API server can be used.')),
  externalManagedControlPlane: opt(
    described(bool(), 'Always true: the control plane has no Machines and no Nodes in the workload cluster.'),
    true,
  ),
  replicas: opt(described(int32(), 'Number of control plane pods.')),
  readyReplicas: opt(described(int32(), 'Number of control plane pods that are ready.')),
  availableReplicas: opt(described(int32(), 'Number of control plane pods that are available.')),
  upToDateReplicas: opt(described(int32(), 'Number of control plane pods with the newest configuration.')),
  unavailableReplicas: opt(described(int32(), 'Number of unavailable control plane pods, for contract v1beta1.')),
  updatedReplicas: opt(described(int32(), 'Same as `upToDateReplicas`, for contract v1beta1.')),
  selector: opt(described(str(), 'Label selector of the pods, as a string.')),
  version: opt(described(str(), 'Lowest Kubernetes version that is running. Changes when a rollout is complete.')),
  versions: opt(
    described(
      listMap(
        obj({
          version: described(str({ minLength: 1, maxLength: 256 }), 'Kubernetes version of the pods.'),
          replicas: opt(described(int32({ minimum: 0 }), 'Number of pods with this version.')),
        }),
        ['version'],
        { maxItems: 100 },
      ),
      'Kubernetes versions that are running, oldest first, with their replicas.',
    ),
  ),
  restore: opt(
    described(
      obj({
        name: opt(described(str(), 'Name of the TenantRestore.')),
        uid: opt(
          described(
            str(),
            'UID of the TenantRestore. What other TenantRestores noted on the TenantControlPlane does not count.',
          ),
        ),
        restoredTime: opt(described(time(), 'The moment of the last change that is contained.')),
        completionTime: opt(
          described(time(), 'When it was seen to be complete. From then on nothing is restored again.'),
        ),
      }),
      'The restore that `spec.restoreFrom` requests.',
    ),
  ),
  failureReason: opt(described(str(), 'Never set. Exists for older clients that read it.')),
  failureMessage: opt(described(str(), 'Never set. Exists for older clients that read it.')),
});
export type StewardControlPlaneStatus = Infer<typeof stewardControlPlaneStatus>;
