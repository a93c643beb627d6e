import type { Infer, Input, NamespacedKind, ObjectOf } from '../../api/schema.ts';
import { bool, described, int64, list, obj, opt, str, time } from '../../api/schema.ts';
import { appliedResource } from './applied-resource.ts';
import { clusterStackGroup, clusterStackVersion } from './names.ts';
import { objectReference } from './object-reference.ts';
import { stackConditionList } from './stack-condition.ts';

const clusterStackReleaseSpec = obj({
  providerRef: opt(described(objectReference, 'Provider object of this release, if the stack has a provider.')),
});
export type ClusterStackReleaseSpec = Infer<typeof clusterStackReleaseSpec>;
export type ClusterStackReleaseSpecInput = Input<typeof clusterStackReleaseSpec>;

const clusterStackReleaseStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  resources: opt(described(list(appliedResource), 'Objects that the release created in the management cluster.')),
  kubernetesVersion: opt(described(str(), 'Kubernetes version of Clusters of this release, e.g. `v1.36.3`.')),
  ready: opt(described(bool(), 'Whether Clusters can be created from the release.'), false),
  digest: opt(
    described(
      str({ pattern: '^sha256:[0-9a-f]{64}$' }),
      'Digest of the release when it was first seen. From then on exactly this content is used, even if its tag is moved.',
    ),
  ),
  source: opt(described(str(), 'Address and tag under which the release was found.')),
  observedAt: opt(described(time(), 'Time at which the release was first seen.')),
  conditions: opt(stackConditionList()),
});
export type ClusterStackReleaseStatus = Infer<typeof clusterStackReleaseStatus>;

/** One release of a stack, and what it created in the management cluster. */
export const clusterStackRelease: NamespacedKind<
  ClusterStackReleaseSpec,
  ClusterStackReleaseStatus,
  ClusterStackReleaseSpecInput
> = {
  group: clusterStackGroup,
  version: clusterStackVersion,
  kind: 'ClusterStackRelease',
  plural: 'clusterstackreleases',
  namespaced: true,
  singular: 'clusterstackrelease',
  listKind: 'ClusterStackReleaseList',
  shortNames: ['cskr'],
  categories: [],
  versions: [{ name: clusterStackVersion, served: true, storage: true }],
  description:
    'One release of a cluster stack: its ClusterClass and templates in the management cluster. Created by its ClusterStack.',
  spec: clusterStackReleaseSpec,
  status: clusterStackReleaseStatus,
  columns: [
    { name: 'K8s Version', type: 'string', jsonPath: '.status.kubernetesVersion' },
    { name: 'Ready', type: 'boolean', jsonPath: '.status.ready' },
    { name: 'Stack', type: 'string', jsonPath: ".metadata.ownerReferences[?(@.kind=='ClusterStack')].name" },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Reason', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].reason" },
    { name: 'Message', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].message" },
    { name: 'Source', type: 'string', jsonPath: '.status.source', priority: 1 },
    { name: 'Digest', type: 'string', jsonPath: '.status.digest', priority: 1 },
  ],
};

export type ClusterStackRelease = ObjectOf<typeof clusterStackRelease>;
