import { conditionList } from '../../../embedded/condition-list.ts';
import { stewardGroup } from '../../../names.ts';
import type { Infer, Input, NamespacedKind, ObjectOf } from '../../../schema.ts';
import { bool, described, int64, obj, oneOf, opt, ruled, str, time } from '../../../schema.ts';
import { tenantName } from './backup-place.ts';
import {
  momentOfRepository,
  momentOfSource,
  oneRestoreSource,
  restoredMoment,
  restoreSourceFields,
} from './restore-source.ts';

const restoreSource = obj(restoreSourceFields, oneRestoreSource);

const tenantRestoreSpec = ruled(
  obj(
    {
      tenantControlPlaneName: described(
        tenantName(),
        'Name of the TenantControlPlane that is restored, in the namespace of this object.',
      ),
      type: described(
        oneOf('InPlace', 'Recreate', 'Clone', 'Move'),
        '`InPlace` returns an existing control plane to the backup: what was written later is lost. `Recreate` creates a deleted one again, with its CAs and keys, so that workers and kubeconfigs stay valid. `Clone` restores into another control plane, which has CAs and keys of its own: create it with 0 replicas. `Move` gives a new control plane, under any name, the data, CAs and keys of the one that was backed up: a StewardControlPlane with `restoreFrom` creates both it and this object.',
      ),
      source: described(restoreSource, 'What is restored.'),
      toTime: opt(restoredMoment),
      sleep: opt(
        described(
          bool(),
          'Whether a control plane that is in use is put to sleep for a restore in place or into a clone, and woken up afterwards. Otherwise the control plane must have 0 replicas.',
        ),
        false,
      ),
    },
    momentOfSource('source.'),
    momentOfRepository('source.'),
    {
      rule: "!(self.type in ['Recreate', 'Move']) || !self.sleep",
      message: 'sleep is not supported with types Recreate and Move: there is nothing to put to sleep',
      fieldPath: '.sleep',
    },
  ),
  { rule: 'self == oldSelf', message: 'a restore cannot be changed: create another one' },
);
export type TenantRestoreSpec = Infer<typeof tenantRestoreSpec>;
export type TenantRestoreSpecInput = Input<typeof tenantRestoreSpec>;

const tenantRestoreStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  conditions: opt(conditionList()),
  phase: opt(
    described(
      oneOf('Pending', 'Running', 'Completed', 'Failed'),
      'What the conditions say in one word. `Completed` and `Failed` are final.',
    ),
  ),
  startTime: opt(described(time(), 'When the process was started.')),
  completionTime: opt(described(time(), 'When the restore was complete.')),
  restoredTime: opt(described(time(), 'The moment of the last change that is contained.')),
  process: opt(
    described(
      obj({
        step: opt(
          described(
            oneOf('Preparing', 'Restoring', 'Waking', 'Restored'),
            'Current step. Preparing: the process waits for the pods to end or for the DataStore. Restoring: data is written and compared. Waking: the number of replicas is set or, with type Move, it is recorded that the data is complete. Restored: it is done.',
          ),
        ),
        backupTime: opt(described(time(), 'The moment of the backup from which the restore began.')),
        restoredTime: opt(described(time(), 'The moment of the last change that is contained.')),
        keys: opt(described(int64(), 'Number of keys that were restored and compared.')),
        bytes: opt(described(int64(), 'Size of the values, in bytes.')),
        changes: opt(described(int64(), 'Number of changes that were applied to the backup.')),
        problem: opt(described(str(), 'Why the process last ended.')),
      }),
      'What the process that restores reports. The process writes this field itself.',
    ),
  ),
});
export type TenantRestoreStatus = Infer<typeof tenantRestoreStatus>;

/** Restores a TenantControlPlane once. */
export const tenantRestore: NamespacedKind<TenantRestoreSpec, TenantRestoreStatus, TenantRestoreSpecInput> = {
  group: stewardGroup,
  version: 'v1alpha1',
  kind: 'TenantRestore',
  plural: 'tenantrestores',
  namespaced: true,
  singular: 'tenantrestore',
  listKind: 'TenantRestoreList',
  shortNames: ['tr'],
  categories: ['steward'],
  versions: [{ name: 'v1alpha1', served: true, storage: true }],
  description: 'Restores a TenantControlPlane once, from a backup of its own namespace.',
  spec: tenantRestoreSpec,
  status: tenantRestoreStatus,
  columns: [
    { name: 'Control Plane', type: 'string', jsonPath: '.spec.tenantControlPlaneName' },
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Step', type: 'string', jsonPath: '.status.process.step' },
    { name: 'Restored', type: 'string', jsonPath: '.status.restoredTime' },
    { name: 'Keys', type: 'integer', jsonPath: '.status.process.keys', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};

export type TenantRestore = ObjectOf<typeof tenantRestore>;
