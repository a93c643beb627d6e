import type { Infer, Input, NamespacedKind, ObjectOf } from '../../api/schema.ts';
import { bool, described, int64, list, listMap, obj, oneOf, opt, ruled, str, time } from '../../api/schema.ts';
import { appliedResource } from './applied-resource.ts';
import { clusterStackGroup, clusterStackVersion } from './names.ts';
import { objectReference } from './object-reference.ts';
import { stackConditionList } from './stack-condition.ts';

const clusterAddonSpec = obj({
  clusterRef: described(
    ruled(
      objectReference,
      {
        rule: "has(self.kind) && self.kind == 'Cluster'",
        message: 'clusterRef.kind must be Cluster',
        fieldPath: '.kind',
      },
      {
        rule: 'has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name)',
        message: 'clusterRef.name is immutable: each Cluster has its own ClusterAddon',
        fieldPath: '.name',
      },
    ),
    'Cluster that the add-ons belong to, in the same namespace.',
  ),
  clusterStack: opt(
    described(
      str(),
      'ClusterClass whose add-ons were completed last. Once nothing is pending, it is the ClusterClass of the Cluster.',
    ),
  ),
  clusterStackNamespace: opt(
    described(str(), 'Namespace of that ClusterClass. Defaults to the namespace of the ClusterAddon.'),
  ),
  version: opt(
    described(str(), 'Version of the add-ons that was applied last or is being applied, with dashes instead of dots.'),
  ),
  hook: opt(described(str(), 'Hook whose stages are running. Empty if none is.')),
});
export type ClusterAddonSpec = Infer<typeof clusterAddonSpec>;
export type ClusterAddonSpecInput = Input<typeof clusterAddonSpec>;

const addonStageStatus = obj({
  name: described(str(), 'Name of the stage, as in the release.'),
  action: described(oneOf('apply', 'delete'), 'Whether the stage applies its objects or deletes them.'),
  phase: opt(
    described(
      oneOf('', 'Pending', 'waitingForPreCondition', 'applyingOrDeleting', 'waitingForPostCondition', 'done'),
      'Progress of the stage.',
    ),
  ),
  message: opt(described(str(), 'What the stage is waiting for, or why it failed.')),
  startedAt: opt(described(time(), 'Time at which the stage started. Its timeout is measured from then.')),
  digest: opt(described(str(), 'Hash of the release and the values that the stage was applied with.')),
});
export type AddonStageStatus = Infer<typeof addonStageStatus>;

const addonInventoryItem = obj({
  group: opt(described(str(), 'API group of the object. Empty for the core group.'), ''),
  version: described(str({ minLength: 1 }), 'API version of the object, without its group.'),
  kind: described(str({ minLength: 1 }), 'Kind of the object.'),
  namespace: opt(described(str(), 'Namespace of the object. Empty for a cluster-wide object.'), ''),
  name: described(str({ minLength: 1 }), 'Name of the object.'),
  stage: described(str(), 'Stage that applied the object.'),
});
export type AddonInventoryItem = Infer<typeof addonInventoryItem>;

const clusterAddonStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  resources: opt(described(list(appliedResource), 'Objects of the running stage, or of the only chart.')),
  stages: opt(described(listMap(addonStageStatus, ['name', 'action']), 'Stages of the running hook, in order.')),
  inventory: opt(
    described(list(addonInventoryItem), 'All objects that were applied to the workload cluster and are still wanted.'),
  ),
  appliedDigest: opt(described(str(), 'Hash of the release, the values and the hook that were applied last.')),
  run: opt(
    described(
      obj({
        class: described(str(), 'Name of the ClusterClass.'),
        digest: described(str(), 'Digest of its release.'),
        hook: described(str(), 'Hook whose stages run.'),
      }),
      'What `stages` belong to: the ClusterClass, the digest of its release, and the hook.',
    ),
  ),
  completedHooks: opt(described(list(str()), 'Hooks whose stages were completed for `lastRelease`.')),
  lastRelease: opt(described(str(), 'Name of the ClusterStackRelease that was completed last.')),
  lastReleaseNamespace: opt(
    described(str(), 'Namespace of `lastRelease`. Defaults to the namespace of the ClusterAddon.'),
  ),
  ready: opt(described(bool(), 'Whether the add-ons of the ClusterClass of the Cluster are in place.'), false),
  conditions: opt(stackConditionList()),
});
export type ClusterAddonStatus = Infer<typeof clusterAddonStatus>;

/** Add-ons of one Cluster. */
export const clusterAddon: NamespacedKind<ClusterAddonSpec, ClusterAddonStatus, ClusterAddonSpecInput> = {
  group: clusterStackGroup,
  version: clusterStackVersion,
  kind: 'ClusterAddon',
  plural: 'clusteraddons',
  namespaced: true,
  singular: 'clusteraddon',
  listKind: 'ClusterAddonList',
  shortNames: ['caddon'],
  categories: [],
  versions: [{ name: clusterStackVersion, served: true, storage: true }],
  description:
    'Add-ons of a Cluster whose ClusterClass comes from a cluster stack. Created and written by the manager.',
  spec: clusterAddonSpec,
  status: clusterAddonStatus,
  columns: [
    { name: 'Cluster', type: 'string', jsonPath: ".metadata.ownerReferences[?(@.kind=='Cluster')].name" },
    { name: 'Class', type: 'string', jsonPath: '.spec.clusterStack' },
    { name: 'Version', type: 'string', jsonPath: '.spec.version' },
    { name: 'Hook', type: 'string', jsonPath: '.spec.hook' },
    { name: 'Ready', type: 'boolean', jsonPath: '.status.ready' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Reason', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].reason" },
    { name: 'Message', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].message" },
  ],
};

export type ClusterAddon = ObjectOf<typeof clusterAddon>;
