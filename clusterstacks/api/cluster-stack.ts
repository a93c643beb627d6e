import type { Infer, Input, NamespacedKind, ObjectOf } from '../../api/schema.ts';
import { bool, described, int64, list, obj, oneOf, opt, ruled, str } from '../../api/schema.ts';
import { clusterStackSource } from './cluster-stack-source.ts';
import { clusterStackGroup, clusterStackVersion } from './names.ts';
import { objectReference } from './object-reference.ts';
import { stackConditionList } from './stack-condition.ts';

/** A part of object names and label values. */
const segment = str({ minLength: 1, maxLength: 40, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' });

const immutable = (field: string): { readonly rule: string; readonly message: string } => ({
  rule: 'self == oldSelf',
  message: `${field} is immutable: create another ClusterStack`,
});

const clusterStackSpec = obj(
  {
    provider: described(
      ruled(segment, immutable('provider')),
      'Infrastructure provider of the stack, e.g. `docker`. First part of the names of its releases.',
    ),
    name: described(
      ruled(segment, immutable('name')),
      'Name of the stack, e.g. `scs`. Second part of the names of its releases. May contain dashes.',
    ),
    kubernetesVersion: described(
      ruled(str({ pattern: '^\\d\\.\\d+$' }), immutable('kubernetesVersion')),
      'Kubernetes minor version, e.g. `"1.36"`. Without the quotes, YAML reads a number.',
    ),
    channel: opt(
      described(
        ruled(oneOf('stable', 'custom'), immutable('channel')),
        '`stable`: versions `vN`. `custom`: versions with a suffix, such as `v0-sha.rwvgrna`.',
      ),
      'stable',
    ),
    versions: opt(
      described(
        list(str({ pattern: '^v\\d+(-[a-z0-9]+[.-][a-z0-9]+)?$' })),
        'Versions that must be present, e.g. `v1` or `v0-sha.rwvgrna`.',
      ),
    ),
    autoSubscribe: opt(described(bool(), 'Whether the newest version of the channel must be present as well.'), true),
    noProvider: opt(described(bool(), 'Whether the stack works without objects of an infrastructure provider.'), false),
    providerRef: opt(
      described(
        objectReference,
        'Template of the provider object for each release. Required unless `noProvider` is true.',
      ),
    ),
    source: opt(
      described(
        clusterStackSource,
        'Source of the releases. Defaults to the source that the manager is configured with.',
      ),
    ),
    pollInterval: opt(
      described(
        ruled(str({ pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$', maxLength: 32 }), {
          rule: "duration(self) >= duration('10s')",
          message: 'pollInterval must be at least 10s, since registries limit the rate of requests: increase it',
        }),
        'Interval at which the source is queried for new versions.',
      ),
      '5m',
    ),
  },
  {
    rule: 'self.noProvider || has(self.providerRef)',
    message: 'providerRef is required unless noProvider is true: name the template, or set noProvider',
    fieldPath: '.providerRef',
  },
);
export type ClusterStackSpec = Infer<typeof clusterStackSpec>;
export type ClusterStackSpecInput = Input<typeof clusterStackSpec>;

const releaseSummary = obj({
  name: described(str(), 'Version of the release, e.g. `v1`.'),
  ready: described(bool(), 'Whether Clusters can be created from the release.'),
  phase: described(
    oneOf('', 'downloading release assets', 'provider-specific work', 'applying objects', 'done'),
    'Progress of the release.',
  ),
  message: opt(described(str(), 'Why the release is not ready.')),
});
export type ReleaseSummary = Infer<typeof releaseSummary>;

const clusterStackStatus = obj({
  observedGeneration: opt(described(int64(), 'Generation of the spec that this status describes.')),
  latestRelease: opt(described(str(), 'Newest release that is ready, as `<name> | <Kubernetes version>`.')),
  summary: opt(described(list(releaseSummary), 'Releases of this stack in the management cluster.')),
  usableVersions: opt(described(str(), 'Versions that are ready, comma-separated.')),
  conditions: opt(stackConditionList()),
});
export type ClusterStackStatus = Infer<typeof clusterStackStatus>;

/** Subscribes to the releases of a stack. Each version that is wanted or in use gets a ClusterStackRelease. */
export const clusterStack: NamespacedKind<ClusterStackSpec, ClusterStackStatus, ClusterStackSpecInput> = {
  group: clusterStackGroup,
  version: clusterStackVersion,
  kind: 'ClusterStack',
  plural: 'clusterstacks',
  namespaced: true,
  singular: 'clusterstack',
  listKind: 'ClusterStackList',
  shortNames: ['csk'],
  categories: [],
  versions: [{ name: clusterStackVersion, served: true, storage: true }],
  description: 'A subscription to the releases of a cluster stack for one Kubernetes minor version.',
  spec: clusterStackSpec,
  status: clusterStackStatus,
  columns: [
    { name: 'Provider', type: 'string', jsonPath: '.spec.provider' },
    { name: 'ClusterStack', type: 'string', jsonPath: '.spec.name' },
    { name: 'K8s', type: 'string', jsonPath: '.spec.kubernetesVersion' },
    { name: 'Channel', type: 'string', jsonPath: '.spec.channel' },
    { name: 'Autosubscribe', type: 'string', jsonPath: '.spec.autoSubscribe' },
    { name: 'Usable', type: 'string', jsonPath: '.status.usableVersions' },
    { name: 'Latest', type: 'string', jsonPath: '.status.latestRelease' },
    { name: 'Ready', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Reason', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].reason" },
    { name: 'Message', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].message" },
    { name: 'Source', type: 'string', jsonPath: '.spec.source.repository', priority: 1 },
  ],
};

export type ClusterStack = ObjectOf<typeof clusterStack>;
