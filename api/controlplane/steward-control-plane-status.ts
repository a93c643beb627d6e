import { conditionList } from '../embedded/condition-list.ts';
import type { Infer } from '../schema.ts';
import { keptTenancy } from './kept-tenancy.ts';
import { bool, described, int32, int64, listMap, obj, opt, str } from '../schema.ts';

/**
 * What a StewardControlPlane was seen to be: the fields of the contracts v1beta2 and v1beta1 of Cluster API, side by side.
 * Nothing is required, so that either contract can be read from the first write on.
 */
export const stewardControlPlaneStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
  initialization: opt(
    obj({
      controlPlaneInitialized: opt(described(bool(), 'True once the API server has answered; it stays true.')),
    }),
  ),
  initialized: opt(described(bool(), 'The same in contract v1beta1.')),
  ready: opt(described(bool(), 'True while the API server can be used.')),
  externalManagedControlPlane: opt(
    described(bool(), 'True: the control plane has no Machines and no Nodes in the workload cluster.'),
    true,
  ),
  replicas: opt(described(int32(), 'Pods of the control plane.')),
  readyReplicas: opt(int32()),
  availableReplicas: opt(int32()),
  upToDateReplicas: opt(int32()),
  unavailableReplicas: opt(described(int32(), 'Contract v1beta1.')),
  updatedReplicas: opt(described(int32(), 'Contract v1beta1: the same as upToDateReplicas.')),
  selector: opt(described(str(), 'Label selector of the pods, in string form.')),
  version: opt(described(str(), 'Lowest Kubernetes version that runs; it moves when a roll-out is complete.')),
  versions: opt(
    described(
      listMap(
        obj({ version: str({ minLength: 1, maxLength: 256 }), replicas: opt(int32({ minimum: 0 })) }),
        ['version'],
        { maxItems: 100 },
      ),
      'Kubernetes versions that run, oldest first, with their replicas.',
    ),
  ),
  keptTenancy: opt(
    described(
      keptTenancy,
      'What is kept of a TenantControlPlane that was deleted alone, until another one has taken its data over.',
    ),
  ),
  failureReason: opt(described(str(), 'Never set; older clients read it.')),
  failureMessage: opt(described(str(), 'Never set; older clients read it.')),
});
export type StewardControlPlaneStatus = Infer<typeof stewardControlPlaneStatus>;
