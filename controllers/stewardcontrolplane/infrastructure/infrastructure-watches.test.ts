import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef } from '../../../api/meta.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { FakeClock, settle } from '../../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { InfrastructureWatches } from './infrastructure-watches.ts';

const group = 'infrastructure.cluster.x-k8s.io';
const kindOf = (kind: string): KindRef => ({
  ...{ group, version: 'v1beta1', kind, plural: `${kind.toLowerCase()}s`, namespaced: true },
});
const hetzner = kindOf('HetznerCluster');
const azure = kindOf('AzureCluster');
const at = (name: string) => ({ namespace: 'default', name });
const definition = `hetznerclusters.${group}`;

let server: FakeCluster;
let watches: InfrastructureWatches;
let reconciles: string[];
let memory: ObjectMemory;
const follower = (name: string) => ({ uid: `uid-${name}`, key: at(name) });

beforeEach(() => {
  server = new FakeCluster();
  reconciles = [];
  memory = new ObjectMemory();
  const clock = new FakeClock();
  watches = new InfrastructureWatches({
    ...{ cluster: server, clock, log: silent, random: () => 0, namespace: '', memory },
    enqueue: ({ name }) => void reconciles.push(name),
  });
});

afterEach(async () => {
  await watches[Symbol.asyncDispose]();
});

const seed = (name: string) =>
  server.seed(hetzner, {
    apiVersion: `${group}/v1beta1`,
    kind: hetzner.kind,
    metadata: at(name),
    spec: {},
  });
const merge = (name: string, body: object) => server.admin.patch(hetzner, at(name), { type: 'merge', body });
const follows = (name: string, kind = hetzner, object = name): void => {
  watches.follow(follower(name), { definition: `${kind.plural}.${group}`, object: { kind, key: at(object) } });
};

test('A change of the endpoint enqueues the control plane that waits for it, and no other', async () => {
  await seed('a');
  await seed('b');
  follows('a');
  follows('b');
  await settle();
  reconciles.length = 0;
  await merge('a', { spec: { controlPlaneEndpoint: { host: 'x', port: 1 } } });
  await settle();
  expect(reconciles).toEqual(['a']);
});

test('Other changes by the provider enqueue nothing', async () => {
  await seed('a');
  follows('a');
  await settle();
  reconciles.length = 0;
  await merge('a', { spec: { hcloudNetwork: { enabled: true } }, metadata: { annotations: { beat: '1' } } });
  await settle();
  expect(reconciles).toEqual([]);
});

test('An object and a definition that are created enqueue the control plane', async () => {
  follows('a');
  await settle();
  expect(reconciles).toEqual([]);
  await seed('a');
  await settle();
  expect(reconciles).toEqual(['a']);
  await server.seed(kinds.CustomResourceDefinition, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: definition },
  });
  await settle();
  expect(reconciles).toEqual(['a', 'a']);
});

test('A kind is watched while a control plane depends on it, once for all of them', async () => {
  follows('a');
  follows('a');
  follows('b');
  expect(watches.watched()).toEqual(['customresourcedefinitions', 'hetznerclusters']);
  memory.drop('uid-a');
  expect(watches.watched()).toEqual(['customresourcedefinitions', 'hetznerclusters']);
  follows('b', azure);
  expect(watches.watched()).toEqual(['customresourcedefinitions', 'azureclusters']);
  watches.leave('uid-b');
  expect(watches.watched()).toEqual([]);
  await seed('a');
  await settle();
  expect(reconciles).toEqual([]);
});

test('A kind that may not be watched is reported as such', async () => {
  server = new FakeCluster({ access: [] });
  const deaf = new InfrastructureWatches({
    ...{
      cluster: server,
      clock: new FakeClock(),
      log: silent,
      random: () => 0,
      namespace: '',
      memory,
      enqueue: () => undefined,
    },
  });
  deaf.follow(follower('a'), { definition, object: { kind: hetzner, key: at('a') } });
  await settle();
  expect(deaf.watchFailure(hetzner)).toMatch(/hetznerclusters/);
  await deaf[Symbol.asyncDispose]();
});
