import { randomInt } from 'node:crypto';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { PlainObject } from '../harness/kubernetes-client.ts';
import { leftovers } from '../harness/remove-harness.ts';
import { ChangeCounter } from '../stage/change-counter.ts';
import type { ClusterApiStage } from '../stage/cluster-api-stage.ts';
import { startClusterApiStage } from '../stage/cluster-api-stage.ts';
import { clusterManifests, controlPlaneManifest } from '../stage/cluster-manifests.ts';
import { killManager, renewManager } from '../stage/kill-manager.ts';
import { namespaceObjects } from '../stage/namespace-objects.ts';
import { scenarioResources } from '../stage/scenario-resources.ts';
import { storeContents } from '../stage/store-contents.ts';
import type { StoreContents } from '../stage/store-contents.ts';
import { tell } from '../stage/tell.ts';
import { Workload } from '../stage/workload.ts';

const minutes = 60_000;
const owned = scenarioResources();
const name = owned.harness(`restart-${process.pid}`);
/** All tenants have this name, each in a namespace of its own: what they consist of can be compared as it is. */
const own = 'tenant';

/** What a finished tenant is: its objects on both sides, without those that Kubernetes derives, and its conditions. */
interface Snapshot {
  readonly objects: readonly string[];
  readonly inside: readonly string[];
  readonly conditions: readonly string[];
}

let stage: ClusterApiStage;
let storeBefore: StoreContents;
let calm: Snapshot;
let bare: readonly string[];
const changes = { creation: 0, deletion: 0 };

beforeAll(async () => {
  stage = owned.use(await startClusterApiStage(name, tell));
  storeBefore = await storeContents(stage.cluster);
}, 20 * minutes);

const controlPlane = (of: Workload) => of.at('controlplane.cluster.x-k8s.io/v1alpha2', 'StewardControlPlane');
const tenant = (of: Workload) => of.at('steward.butlerlabs.dev/v1alpha1', 'TenantControlPlane');
const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

function counter(namespace: string): ChangeCounter {
  return new ChangeCounter(stage.cluster.client, namespace, (error) => {
    tell('change counter', String(error));
  });
}

async function namespaceOf(called: string): Promise<Workload> {
  await stage.cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: called } }]);
  const found = new Workload(stage.cluster, own, called);
  await found.waitFor(found.at('v1', 'ServiceAccount', 'default'), (object) => object !== undefined);
  await found.waitFor(found.at('v1', 'ConfigMap', 'kube-root-ca.crt'), (object) => object !== undefined);
  return found;
}

async function create({ namespace }: Workload): Promise<void> {
  await stage.cluster.apply([...clusterManifests(own, namespace), controlPlaneManifest(own, namespace)]);
}

async function ready(of: Workload): Promise<void> {
  await of.waitFor(controlPlane(of), 'Ready', { timeoutMs: 3 * minutes });
  await of.waitFor(of.address, 'ControlPlaneAvailable');
}

async function gone(of: Workload): Promise<void> {
  await of.waitFor(of.address, (object) => object === undefined, { timeoutMs: 3 * minutes, what: 'its end' });
}

const conditionsOf = (object: PlainObject | undefined): readonly string[] =>
  (object?.status?.conditions ?? []).map(
    ({ type, status, reason = '' }) => `${object?.kind ?? ''} ${type}=${status} ${reason}`,
  );

async function snapshot(of: Workload): Promise<Snapshot> {
  const derived = /^(pod|replicaset\.apps|endpoints|endpointslice\.discovery\.k8s\.io)\//;
  const kinds = 'configmaps,secrets,serviceaccounts,services,deployments,daemonsets,roles,rolebindings';
  const ours = ['-A', '-l', 'steward.butlerlabs.dev/project=steward', '-o', 'name'];
  const [objects, inside, ...read] = await Promise.all([
    namespaceObjects(stage.cluster, of.namespace),
    of.kubectl(['get', `${kinds},clusterroles,clusterrolebindings`, ...ours]),
    ...[controlPlane(of), tenant(of)].map((address) => stage.cluster.client.read(address)),
  ]);
  return {
    objects: objects.filter((line) => !derived.test(line)),
    inside: inside.stdout.trim().split('\n').toSorted(),
    conditions: read.flatMap(conditionsOf).toSorted(),
  };
}

/** Waits until a tenant is what the undisturbed one was. */
async function converged(of: Workload): Promise<void> {
  const deadline = Date.now() + minutes;
  for (;;) {
    const seen = await snapshot(of);
    if (JSON.stringify(seen) === JSON.stringify(calm) || Date.now() > deadline) {
      if (Date.now() > deadline) tell(of.namespace, await of.diagnose());
      expect(seen).toEqual(calm);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Waits until nothing of a deleted tenant is left; Kubernetes' garbage collector may take a moment. */
async function nothingLeft(of: Workload): Promise<void> {
  const deadline = Date.now() + minutes;
  for (;;) {
    const left = await namespaceObjects(stage.cluster, of.namespace);
    if (JSON.stringify(left) === JSON.stringify(bare) || Date.now() > deadline) {
      expect(left).toEqual(bare);
      expect(await storeContents(stage.cluster)).toEqual(storeBefore);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Does something harmful at a change of this number, or at the end when there are fewer. */
async function at(
  point: number,
  counting: ChangeCounter,
  end: Promise<void>,
  harm: () => Promise<void>,
): Promise<void> {
  await Promise.race([counting.reached(point), end]);
  tell('harm', `at change ${counting.count}, meant for ${point}`);
  await harm();
  await end;
}

describe('A tenant that nobody disturbs', () => {
  test(
    'comes and goes, and is what the others are compared with',
    async () => {
      const of = await namespaceOf('calm');
      bare = await namespaceObjects(stage.cluster, of.namespace);
      using counting = counter(of.namespace);
      const began = performance.now();
      await create(of);
      await ready(of);
      changes.creation = counting.count;
      tell('calm', `is Ready after ${seconds(began)} and ${changes.creation} changes`);
      calm = await snapshot(of);
      expect(calm.objects.length).toBeGreaterThan(15);
      expect(calm.inside.length).toBeGreaterThan(10);
      const ended = performance.now();
      await stage.cluster.client.delete(of.address);
      await gone(of);
      changes.deletion = counting.count - changes.creation;
      tell('calm', `is gone after ${seconds(ended)} and ${changes.deletion} changes`);
      await nothingLeft(of);
    },
    6 * minutes,
  );
});

describe.each([1, 2])('A manager that is killed at random points, round %d', (round) => {
  const killed = `killed-${round}`;

  test(
    'brings the creation to the same end',
    async () => {
      const of = await namespaceOf(killed);
      using counting = counter(of.namespace);
      const began = performance.now();
      await create(of);
      await at(randomInt(1, changes.creation), counting, ready(of), () => killManager(stage.cluster));
      tell(killed, `is Ready after ${seconds(began)}`);
      await converged(of);
    },
    6 * minutes,
  );

  test(
    'brings the deletion to an end that leaves nothing',
    async () => {
      const of = new Workload(stage.cluster, own, killed);
      using counting = counter(of.namespace);
      const began = performance.now();
      await stage.cluster.client.delete(of.address);
      const { count } = counting;
      await at(count + randomInt(1, changes.deletion), counting, gone(of), () => killManager(stage.cluster));
      tell(killed, `is gone after ${seconds(began)}`);
      await nothingLeft(of);
      await renewManager(stage.cluster);
    },
    6 * minutes,
  );
});

describe('An API server that is killed at a random point', () => {
  test(
    'of a creation is noticed by the manager, and nothing is missed',
    async () => {
      const of = await namespaceOf('unheard');
      using counting = counter(of.namespace);
      const began = performance.now();
      await create(of);
      await at(randomInt(1, changes.creation), counting, ready(of), () => stage.cluster.killApiServer());
      tell(of.namespace, `is Ready after ${seconds(began)}`);
      await converged(of);
    },
    6 * minutes,
  );

  test(
    'of a deletion is noticed by the manager, and nothing is left',
    async () => {
      const of = new Workload(stage.cluster, own, 'unheard');
      using counting = counter(of.namespace);
      const began = performance.now();
      await stage.cluster.client.delete(of.address);
      const { count } = counting;
      await at(count + randomInt(1, changes.deletion), counting, gone(of), () => stage.cluster.killApiServer());
      tell(of.namespace, `is gone after ${seconds(began)}`);
      await nothingLeft(of);
    },
    6 * minutes,
  );

  test(
    'leaves nothing on the host when its management cluster is stopped',
    async () => {
      await stage[Symbol.asyncDispose]();
      expect(await leftovers(name)).toEqual([]);
    },
    2 * minutes,
  );
});
