import type { Infer, Input, Kind, ObjectOf } from '../schema.ts';
import { bool, described, int64, list, listMap, obj, oneOf, opt, ruled, str, time } from '../schema.ts';
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
        message: 'clusterRef.name cannot change: each Cluster has a ClusterAddon of its own',
        fieldPath: '.name',
      },
    ),
    'The Cluster whose add-ons these are, in the same namespace.',
  ),
  clusterStack: opt(
    described(str(), 'ClusterClass whose add-ons were completed last; the class of the Cluster when all is settled.'),
  ),
  clusterStackNamespace: opt(
    described(str(), 'Namespace of that ClusterClass; where absent or empty, the one of the ClusterAddon.'),
  ),
  version: opt(described(str(), 'Version of the add-ons that was applied last, or is being applied; with dash.')),
  hook: opt(described(str(), 'The hook whose stages run; empty when none does.')),
});
export type ClusterAddonSpec = Infer<typeof clusterAddonSpec>;
export type ClusterAddonSpecInput = Input<typeof clusterAddonSpec>;

const addonStageStatus = obj({
  name: str(),
  action: oneOf('apply', 'delete'),
  phase: opt(
    described(
      oneOf('', 'Pending', 'waitingForPreCondition', 'applyingOrDeleting', 'waitingForPostCondition', 'done'),
      'How far the stage has come.',
    ),
  ),
  message: opt(described(str(), 'What the stage waits for, or what it failed with.')),
  startedAt: opt(described(time(), 'When the stage began; its timeout counts from then.')),
  digest: opt(described(str(), 'Hash over release and values that the stage was applied with.')),
});
export type AddonStageStatus = Infer<typeof addonStageStatus>;

const addonInventoryItem = obj({
  group: opt(str(), ''),
  version: str({ minLength: 1 }),
  kind: str({ minLength: 1 }),
  namespace: opt(str(), ''),
  name: str({ minLength: 1 }),
  stage: described(str(), 'The stage that applied it.'),
});
export type AddonInventoryItem = Infer<typeof addonInventoryItem>;

const clusterAddonStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  resources: opt(described(list(appliedResource), 'Objects of the stage that runs, or of the only chart.')),
  stages: opt(described(listMap(addonStageStatus, ['name', 'action']), 'Stages of the hook that runs, in order.')),
  inventory: opt(
    described(list(addonInventoryItem), 'Everything that was applied to the workload cluster and is still wanted.'),
  ),
  appliedDigest: opt(described(str(), 'Hash over release, values and hook that were applied last.')),
  run: opt(
    described(
      obj({ class: str(), digest: str(), hook: str() }),
      'What `stages` are of: the ClusterClass, the digest of its release, and the hook.',
    ),
  ),
  completedHooks: opt(described(list(str()), 'Hooks whose stages were completed for `lastRelease`.')),
  lastRelease: opt(described(str(), 'Name of the ClusterStackRelease that was completed last.')),
  lastReleaseNamespace: opt(described(str(), 'Its namespace; where absent, the one of the ClusterAddon.')),
  ready: opt(described(bool(), 'Whether the add-ons of the Cluster’s class are in place.'), false),
  conditions: opt(stackConditionList()),
});
export type ClusterAddonStatus = Infer<typeof clusterAddonStatus>;

/** The add-ons of one Cluster. */
export const clusterAddon: Kind<ClusterAddonSpec, ClusterAddonStatus, ClusterAddonSpecInput> = {
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
  description: 'The add-ons of a Cluster whose class is of a cluster stack. Made and written by the manager.',
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
