import { describe, expect, test } from '@jest/globals';
import { conditionTable } from '../../api/conditions.ts';
import type { ConditionKind } from '../../api/conditions.ts';
import { phasesOf } from '../../clusterstacks/controllers/clusterstack/phases.ts';
import { ObjectWatches } from '../../clusterstacks/controllers/clusterstackrelease/object-watches.ts';
import { clusterStackReleasePhases } from '../../clusterstacks/controllers/clusterstackrelease/recipe.ts';
import { stewardControlPlanePhases } from '../../controllers/stewardcontrolplane/recipe.ts';
import { recipe } from '../../controllers/tenantcontrolplane/recipe.ts';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { KindDiscovery } from '../../runtime/client/kind-discovery.ts';
import { emptyInformers } from '../fake/empty-informers.ts';
import { FakeAssetStore } from '../fake/fake-asset-store.ts';
import { FakeCluster } from '../fake/fake-cluster.ts';
import { noBlockerWatches } from '../fake/no-blocker-watches.ts';
import { noInfrastructureWatches } from '../fake/no-infrastructure-watches.ts';

const cluster = new FakeCluster({ access: [] });
const memory = new ObjectMemory();
const ofStacks = {
  cluster,
  memory,
  assets: new FakeAssetStore(),
  discovery: new KindDiscovery(cluster),
  source: {},
  watchFilter: '',
  classes: () => [],
};
const ofReleases = {
  ...ofStacks,
  renderer: { render: () => Promise.reject(new Error('nothing is rendered here')) },
  furtherKinds: new Set<string>(),
  informers: emptyInformers,
  releases: () => [],
  enqueue: () => undefined,
};
const controlPlanes = stewardControlPlanePhases({
  cluster,
  watchFilter: '',
  infrastructure: noInfrastructureWatches,
  blockers: noBlockerWatches,
});

interface NamedPhase {
  readonly name: string;
  readonly condition?: string | undefined;
  readonly needs?: readonly string[];
}

const recipes: readonly (readonly [title: string, kind: ConditionKind, phases: readonly NamedPhase[]])[] = [
  ['a TenantControlPlane', 'TenantControlPlane', recipe],
  ['a StewardControlPlane', 'StewardControlPlane', controlPlanes.local],
  ['a StewardControlPlane in a hosting cluster', 'StewardControlPlane', controlPlanes.external],
  ['a ClusterStack', 'ClusterStack', phasesOf({ ...ofStacks, clusters: () => [], stacks: () => [] })],
  [
    'a ClusterStackRelease',
    'ClusterStackRelease',
    clusterStackReleasePhases(ofReleases, {
      watches: new ObjectWatches(emptyInformers, () => undefined),
      unpinned: memory.slot<true>('test'),
    }),
  ],
];

/** Everything that a phase needs, directly or not: each of these may block it. */
function blockersOf(phase: NamedPhase, phases: readonly NamedPhase[]): readonly NamedPhase[] {
  const needed = phases.filter(({ name }) => phase.needs?.includes(name) === true);
  return [...needed, ...needed.flatMap((one) => blockersOf(one, phases))];
}

describe('The phases', () => {
  test.each(recipes)('of %s have conditions of the kind, which blocked conditions name', (_, kind, phases) => {
    const types = Object.keys(conditionTable[kind]);
    const reporting = phases.filter(({ condition }) => condition !== undefined);
    const named = reporting.flatMap((phase) => [phase, ...blockersOf(phase, phases)]);
    expect(named.length).toBeGreaterThan(reporting.length);
    expect(named.filter(({ condition = '' }) => !types.includes(condition))).toEqual([]);
  });
});
