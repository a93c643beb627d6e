import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import { capiMachine, capiMachinePool } from '../../../api/cluster-api/kinds.ts';
import { kinds } from '../../../api/core/kinds.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { FakeClock, settle } from '../../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { BlockerWatches } from './blocker-watches.ts';
import type { Blocker } from './blocker-watches.ts';

const at = (name: string) => ({ namespace: 'default', name });

let server: FakeCluster;
let watches: BlockerWatches;
let reconciles: string[];
const follower = (name: string) => ({ uid: `uid-${name}`, key: at(name) });

beforeEach(() => {
  server = new FakeCluster();
  reconciles = [];
  watches = new BlockerWatches({
    ...{ cluster: server, clock: new FakeClock(), log: silent, random: () => 0, memory: new ObjectMemory() },
    enqueue: ({ name }) => void reconciles.push(name),
  });
});

afterEach(async () => {
  await watches[Symbol.asyncDispose]();
});

const machines: Blocker = { kind: capiMachine, namespace: 'default', labelSelector: `${clusterNameLabel}=a` };
const secretCalled = (name: string): Blocker => ({
  ...{ kind: kinds.Secret, namespace: 'default', fieldSelector: `metadata.name=${name}` },
});

const machine = (name: string, cluster: string) =>
  server.seed(capiMachine, {
    ...{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine' },
    metadata: { ...at(name), labels: { [clusterNameLabel]: cluster } },
  });

test('The deletion of the last Machine of a Cluster enqueues the control plane that waits for it, and of other Machines nothing', async () => {
  await machine('one', 'a');
  await machine('other', 'b');
  watches.follow(follower('a'), [machines]);
  await settle();
  reconciles.length = 0;
  await server.admin.delete(capiMachine, at('other'));
  await settle();
  expect(reconciles).toEqual([]);
  await server.admin.delete(capiMachine, at('one'));
  await settle();
  expect(reconciles).toEqual(['a']);
});

test('The deletion of an object before the first watch event is noticed too', async () => {
  watches.follow(follower('a'), [machines]);
  await settle();
  expect(reconciles).toEqual(['a']);
});

test('The deletion of a conflicting Secret is noticed, although it has no label of Steward', async () => {
  await server.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata: at('a-ca') });
  watches.follow(follower('a'), [secretCalled('a-ca')]);
  await settle();
  reconciles.length = 0;
  await server.admin.delete(kinds.Secret, at('a-ca'));
  await settle();
  expect(reconciles).toEqual(['a']);
});

test('A second request watches nothing twice, and objects that no longer block are not watched', async () => {
  const pools = { ...machines, kind: capiMachinePool, optional: true };
  watches.follow(follower('a'), [machines, pools]);
  watches.follow(follower('a'), [machines, pools]);
  watches.follow(follower('b'), [secretCalled('b-ca')]);
  expect(watches.size).toBe(3);
  watches.follow(follower('a'), []);
  expect(watches.size).toBe(1);
  await settle();
  reconciles.length = 0;
  await machine('late', 'a');
  await settle();
  expect(reconciles).toEqual([]);
});

test('A refused watch is reported as absent', async () => {
  const forbidden = new FakeCluster({ access: [] });
  await using deaf = new BlockerWatches({
    ...{ cluster: forbidden, clock: new FakeClock(), log: silent, random: () => 0, memory: new ObjectMemory() },
    enqueue: () => undefined,
  });
  deaf.follow(follower('a'), [machines]);
  await settle();
  expect([deaf.isUnwatched(follower('a')), deaf.isUnwatched(follower('b'))]).toEqual([true, false]);
});
