import { beforeAll, describe, expect, test } from '@jest/globals';

import type { PlainObject } from '../cluster/kubernetes-client.ts';
import { leftovers } from '../cluster/remove-harness.ts';
import { ChangeCounter } from '../framework/load/change-counter.ts';
import type { ClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { startClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { clusterManifests, controlPlaneManifest } from '../framework/cluster-api/cluster-manifests.ts';
import { killManager, renewManager } from '../framework/kill-manager.ts';
import { namespaceObjects } from '../framework/namespace-objects.ts';
import { givenSeed, newSeed, runSeedVariable, seededNumber } from '../framework/run-seed.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { storeContents } from '../framework/store-contents.ts';
import type { StoreContents } from '../framework/store-contents.ts';
import { logStep } from '../framework/log.ts';
import { Workload } from '../framework/workload.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { minutes } from '../framework/minutes.ts';

const owned = scenarioResources();
const name = owned.harness(`restart-${process.pid}`);
/** All tenants have this name, each in a namespace of its own: what they consist of can be compared as it is. */
const own = 'tenant';
/** Chooses at which changes something is killed. */
const seed = givenSeed() ?? newSeed();

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
  logStep('points', `are chosen by ${runSeedVariable}=${seed}`);
  // Its own: managers are killed and rolled out again, which leaves another Deployment.
  stage = owned.use(await startClusterApiStage(name, logStep));
  storeBefore = await storeContents(stage.cluster);
}, 20 * minutes);

const controlPlane = (of: Workload) => of.at('controlplane.cluster.x-k8s.io/v1alpha2', 'StewardControlPlane');
const tenant = (of: Workload) => of.at('steward.butlerlabs.dev/v1alpha1', 'TenantControlPlane');
const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

function counter(namespace: string): Promise<ChangeCounter> {
  return ChangeCounter.start(stage.cluster.client, namespace, (error) => {
    logStep('change counter', String(error));
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
  const deadline = deadlineIn(minutes);
  for (;;) {
    const seen = await snapshot(of);
    if (JSON.stringify(seen) === JSON.stringify(calm) || Date.now() > deadline) {
      if (Date.now() > deadline) logStep(of.namespace, await of.diagnose());
      expect(seen).toEqual(calm);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Waits until nothing of a deleted tenant is left; Kubernetes' garbage collector may take a moment. */
async function nothingLeft(of: Workload): Promise<void> {
  const deadline = deadlineIn(minutes);
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

/** So often a point is chosen that comes before the end; then the test fails. */
const mostPoints = 3;

/**
 * Does something harmful at a change that the run's seed chooses, while `act` goes on to its end. An end that comes first shows nothing:
 * `again` brings back what was before, and another point is chosen.
 */
async function harmed(
  { of, during, changes: most }: { readonly of: Workload; readonly during: string; readonly changes: number },
  act: () => Promise<void>,
  harm: () => Promise<void>,
  again: () => Promise<void>,
): Promise<void> {
  for (let attempt = 1; attempt <= mostPoints; attempt += 1) {
    using counting = await counter(of.namespace);
    const point = seededNumber(seed, `${of.namespace} ${during} ${attempt}`, 1, most);
    const began = performance.now();
    const acting = act();
    const first = await Promise.race([counting.reached(point).then(() => 'point'), acting.then(() => 'end')]);
    logStep(of.namespace, `${first} first: ${during} is at change ${counting.count}, the point is ${point} of ${most}`);
    if (first === 'point') {
      await harm();
      await acting;
      logStep(of.namespace, `${during} is over after ${seconds(began)}`);
      return;
    }
    await again();
  }
  throw new Error(`The end of ${during} came before each of ${mostPoints} points: nothing was disturbed.`);
}

async function remove(of: Workload): Promise<void> {
  await stage.cluster.client.delete(of.address);
  await gone(of);
}

async function make(of: Workload): Promise<void> {
  await create(of);
  await ready(of);
}

const harmedCreation = (of: Workload, harm: () => Promise<void>): Promise<void> =>
  harmed(
    { of, during: 'creation', changes: changes.creation },
    () => make(of),
    harm,
    async () => {
      await remove(of);
      await nothingLeft(of);
    },
  );

const harmedDeletion = (of: Workload, harm: () => Promise<void>): Promise<void> =>
  harmed(
    { of, during: 'deletion', changes: changes.deletion },
    () => remove(of),
    harm,
    () => make(of),
  );

describe('An undisturbed tenant', () => {
  test(
    'is created and deleted, as the reference for the others',
    async () => {
      const of = await namespaceOf('calm');
      bare = await namespaceObjects(stage.cluster, of.namespace);
      using counting = await counter(of.namespace);
      const began = performance.now();
      await create(of);
      await ready(of);
      changes.creation = counting.count;
      logStep('calm', `is Ready after ${seconds(began)} and ${changes.creation} changes`);
      calm = await snapshot(of);
      expect(calm.objects.length).toBeGreaterThan(15);
      expect(calm.inside.length).toBeGreaterThan(10);
      const ended = performance.now();
      await stage.cluster.client.delete(of.address);
      await gone(of);
      changes.deletion = counting.count - changes.creation;
      logStep('calm', `is gone after ${seconds(ended)} and ${changes.deletion} changes`);
      await nothingLeft(of);
    },
    6 * minutes,
  );
});

describe.each([1, 2])('A manager that is killed at random points, round %d', (round) => {
  const killed = `killed-${round}`;

  test(
    'creates the tenant with the same result',
    async () => {
      const of = await namespaceOf(killed);
      await harmedCreation(of, () => killManager(stage.cluster));
      await converged(of);
    },
    6 * minutes,
  );

  test(
    'deletes the tenant and leaves nothing',
    async () => {
      const of = new Workload(stage.cluster, own, killed);
      await harmedDeletion(of, () => killManager(stage.cluster));
      await nothingLeft(of);
      await renewManager(stage.cluster);
    },
    6 * minutes,
  );
});

describe('An API server that is killed at a random point', () => {
  test(
    'during a creation is noticed by the manager, and nothing is missed',
    async () => {
      const of = await namespaceOf('unheard');
      await harmedCreation(of, () => stage.cluster.killApiServer());
      await converged(of);
    },
    6 * minutes,
  );

  test(
    'during a deletion is noticed by the manager, and nothing is left',
    async () => {
      const of = new Workload(stage.cluster, own, 'unheard');
      await harmedDeletion(of, () => stage.cluster.killApiServer());
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
