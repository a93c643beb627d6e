import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { ObjectAddress, PlainObject } from '../cluster/kubernetes-client.ts';
import { parseManifests } from '../cluster/kubernetes-client.ts';
import { leftovers } from '../cluster/remove-harness.ts';
import { watchObjects } from '../cluster/watch-objects.ts';
import type { ClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { shareClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { classWithPools } from '../framework/cluster-api/class-with-pools.ts';
import { capiVersion, createWorkload } from '../framework/cluster-api/cluster-stage.ts';
import { expectUnharmed } from '../framework/load/expect-unharmed.ts';
import { namedLeftovers } from '../framework/named-leftovers.ts';
import { untilReached } from '../framework/network/until-reached.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { storeContents } from '../framework/store-contents.ts';
import { logStep } from '../framework/log.ts';
import { conditionOf } from '../framework/tenant-stage.ts';
import { Timeline } from '../framework/load/timeline.ts';
import { underLoad } from '../framework/load/under-load.ts';
import { Workload } from '../framework/workload.ts';
import { imageArchives } from '../tools/images.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { minutes } from '../framework/minutes.ts';

const owned = scenarioResources();
const name = owned.harness(`topology-${process.pid}`);
const shop = 'shop';
const [older, newer] = ['v1.35.4', 'v1.36.3'] as const;
const controlPlaneVersion = 'controlplane.cluster.x-k8s.io/v1alpha2';
const templates = path.join(import.meta.dirname, '..', '..', 'templates');
const classFile = path.join(templates, 'clusterclass-steward-netns.yaml');
const hold = 'e2e.steward.butlerlabs.dev/hold';

let stage: ClusterApiStage;
let workload: Workload;
const timeline = new Timeline('topology');

beforeAll(async () => {
  owned.defer(() => {
    timeline.print();
  });
  stage = owned.use(await shareClusterApiStage(name, logStep));
  workload = new Workload(stage.cluster, shop);
  const archives = await imageArchives({
    kubernetes: older,
    progress: (line) => {
      logStep('images', line);
    },
  });
  const programs = /kube-(apiserver|controller-manager|scheduler):/;
  for (const archive of archives) {
    if (programs.test(archive.name)) await stage.cluster.machine.importImage(archive.path);
  }
}, 25 * minutes);

/** The StewardControlPlane that the class has made. */
async function controlPlane(): Promise<ObjectAddress> {
  const cluster = await stage.cluster.client.read(workload.address);
  const { name: called } = cluster?.spec?.controlPlaneRef as { readonly name: string };
  return workload.at(controlPlaneVersion, 'StewardControlPlane', called);
}

/** What `clusterctl describe` says, condition by condition. */
async function described(): Promise<string> {
  const args = ['describe', 'cluster', shop, '--show-conditions=all'];
  const { stdout } = await stage.clusterApi.clusterctl(args);
  logStep('clusterctl describe', `\n${stdout}`);
  return stdout;
}

/** The status of a condition in the lines of the control plane. */
function saidOfControlPlane(text: string, type: string): string | undefined {
  const [, ofControlPlane = ''] = /StewardControlPlane \S+, ([\s\S]*?)(?:─Workers|$)/.exec(text) ?? [];
  return new RegExp(`─${type} +(True|False|Unknown) `).exec(ofControlPlane)?.[1];
}

interface Topology {
  readonly version: string;
  readonly workers: { readonly machineDeployments: readonly PlainObject[] };
}

async function scaledTo(replicas: number): Promise<void> {
  const cluster = await stage.cluster.client.read(workload.address);
  const { workers } = cluster?.spec?.topology as Topology;
  const machineDeployments = workers.machineDeployments.map((one) => ({ ...one, replicas }));
  await stage.cluster.client.merge(workload.address, { spec: { topology: { workers: { machineDeployments } } } });
}

/** Gives the topology one MachinePool of so many workers. */
async function poolOf(replicas: number): Promise<void> {
  const machinePools = [{ class: 'default', name: 'mp-0', replicas }];
  await stage.cluster.client.merge(workload.address, { spec: { topology: { workers: { machinePools } } } });
}

const versionOf = (object: PlainObject): unknown => object.spec?.version;

describe('A Cluster of a ClusterClass', () => {
  test(
    'is created with one control plane and two workers by clusterctl generate and kubectl apply',
    async () => {
      await stage.cluster.apply(classWithPools(parseManifests(await readFile(classFile, 'utf8'))));
      timeline.note('clusterctl init is done, the ClusterClass is there');
      const template = 'cluster-template-netns-topology.yaml';
      await createWorkload(stage.clusterApi, { name: shop, template, kubernetes: older, workers: 2 });
      timeline.note(`Cluster ${shop} is created: one control plane, two workers, ${older}`);
      await workload.initialized();
      timeline.note('its control plane is initialized');
      await workload.readyNodes(2, 5 * minutes);
      timeline.note('two workers are Ready');
      await workload.waitFor(workload.address, 'Available', { timeoutMs: 3 * minutes });
      timeline.note('the Cluster is Available');
      const text = await described();
      expect(
        Object.fromEntries(
          ['Available', 'RollingOut', 'Paused', 'Deleting'].map((type) => [type, saidOfControlPlane(text, type)]),
        ),
      ).toEqual({
        Available: 'True',
        RollingOut: 'False',
        Paused: 'False',
        Deleting: 'False',
      });
    },
    10 * minutes,
  );

  test(
    'is scaled to three workers',
    async () => {
      await scaledTo(3);
      await workload.readyNodes(3, 4 * minutes);
      await workload.waitFor(workload.address, 'Available', { timeoutMs: 2 * minutes });
      timeline.note('three workers are Ready, the Cluster is Available');
    },
    5 * minutes,
  );

  test(
    'accepts the workers of a MachinePool, and removes them',
    async () => {
      await poolOf(1);
      await workload.readyNodes(4, 4 * minutes);
      timeline.note('a worker of a MachinePool is Ready');
      await poolOf(2);
      await workload.readyNodes(5, 4 * minutes);
      timeline.note('two workers of it are Ready');
      await poolOf(1);
      await onlyMachines(4, older);
      await workload.waitFor(workload.address, 'Available', { timeoutMs: 2 * minutes });
      timeline.note('one worker of it is left, the Cluster is Available');
    },
    10 * minutes,
  );

  test(
    'is Paused, and continues as soon as it no longer is',
    async () => {
      const at = await controlPlane();
      await stage.cluster.client.merge(workload.address, { spec: { paused: true } });
      await workload.waitFor(at, 'Paused');
      timeline.note('paused');
      const text = await described();
      await stage.cluster.client.merge(workload.address, { spec: { paused: null } });
      await workload.waitFor(at, (object) => conditionOf(object, 'Paused')?.status === 'False', { timeoutMs: 10_000 });
      timeline.note('not paused anymore');
      expect(saidOfControlPlane(text, 'Paused')).toBe('True');
    },
    2 * minutes,
  );

  test(
    'is upgraded to the next minor, the control plane first and then the workers, without a failed call',
    async () => {
      const at = await controlPlane();
      const order: string[] = [];
      const noted = new Set<string>();
      const once = (what: string): void => {
        if (noted.has(what)) return;
        noted.add(what);
        order.push(what);
        timeline.note(what);
      };
      const stop = new AbortController();
      const onError = (error: unknown): void => {
        logStep('watch', String(error));
      };
      const options = { signal: stop.signal, onError };
      const { config } = stage.cluster.client;
      const collection = (version: string, plural: string): string => `/apis/${version}/namespaces/default/${plural}`;
      const onControlPlane = ({ object }: { readonly object: PlainObject }): Promise<void> => {
        if (object.status?.version === newer) once('the control plane has the new version');
        return Promise.resolve();
      };
      const onMachine = ({ type, object }: { readonly type: string; readonly object: PlainObject }): Promise<void> => {
        if (versionOf(object) === newer) once('a Machine of the new version is made');
        if (type === 'DELETED' && versionOf(object) === older) once('a Machine of the old version is gone');
        return Promise.resolve();
      };
      const watches = Promise.all([
        watchObjects(config, collection(controlPlaneVersion, 'stewardcontrolplanes'), onControlPlane, options),
        watchObjects(config, collection(capiVersion, 'machines'), onMachine, options),
      ]);
      try {
        const users = {
          title: `${older} → ${newer}`,
          kubeconfig: await workload.kubeconfig(),
          floor: stage.cluster.client,
        };
        const seen = await underLoad(users, async () => {
          await stage.cluster.client.merge(workload.address, { spec: { topology: { version: newer } } });
          timeline.note(`the topology requests ${newer}`);
          await workload.waitFor(at, 'RollingOut', { timeoutMs: minutes });
          expect(saidOfControlPlane(await described(), 'RollingOut')).toBe('True');
          await workload.waitFor(at, (object) => object?.status?.version === newer, { timeoutMs: 4 * minutes });
          await onlyMachines(4, newer);
          timeline.note('four workers of the new version are Ready, no other is left');
        });
        expectUnharmed(seen);
      } finally {
        stop.abort();
        await watches;
      }
      expect(order.slice(0, 2)).toEqual([
        'the control plane has the new version',
        'a Machine of the new version is made',
      ]);
      const text = await described();
      expect([saidOfControlPlane(text, 'Available'), saidOfControlPlane(text, 'RollingOut')]).toEqual([
        'True',
        'False',
      ]);
    },
    15 * minutes,
  );

  test(
    'is updated to another template of the control plane, and replaces its pods once',
    async () => {
      const at = await controlPlane();
      const { client } = stage.cluster;
      const deployment = workload.at('apps/v1', 'Deployment', at.name);
      const revision = async (): Promise<number> =>
        Number((await client.read(deployment))?.metadata?.annotations?.['deployment.kubernetes.io/revision']);
      const before = await revision();
      const first = workload.at(controlPlaneVersion, 'StewardControlPlaneTemplate', 'steward-netns');
      const { spec } = (await client.read(first))?.spec?.template as { readonly spec: object };
      const second = { apiVersion: controlPlaneVersion, kind: first.kind, name: 'steward-netns-second' };
      const flag = '--goaway-chance=0.001';
      await client.apply([
        {
          ...{ apiVersion: second.apiVersion, kind: second.kind },
          metadata: { name: second.name, namespace: 'default' },
          spec: { template: { spec: { ...spec, apiServer: { extraArgs: [flag] } } } },
        },
      ]);
      const classAddress = workload.at(capiVersion, 'ClusterClass', 'steward-netns');
      await client.merge(classAddress, { spec: { controlPlane: { templateRef: second } } });
      timeline.note('the class names another template');
      await workload.waitFor(deployment, (object) => JSON.stringify(object?.spec).includes(flag), { what: flag });
      const isOver = (object: PlainObject | undefined): boolean =>
        object?.status?.observedGeneration === object?.metadata?.generation &&
        conditionOf(object, 'RollingOut')?.status === 'False';
      await workload.waitFor(at, isOver, { timeoutMs: 3 * minutes, what: 'the end of its rollout' });
      timeline.note('the control plane follows it');
      const { metadata, status } = (await client.read(deployment)) ?? {};
      expect(status).toMatchObject({ observedGeneration: metadata?.generation, replicas: 1, updatedReplicas: 1 });
      expect(await revision()).toBe(before + 1);
      const origin = (await client.read(at))?.metadata?.annotations?.['cluster.x-k8s.io/cloned-from-name'];
      expect(origin).toBe(second.name);
    },
    5 * minutes,
  );

  test(
    'is deleted workers first, and nothing of it is left',
    async () => {
      const at = await controlPlane();
      const { client } = stage.cluster;
      const finalizers = (await client.read(at))?.metadata?.finalizers ?? [];
      // Held for a look; the control plane itself goes meanwhile.
      await client.merge(at, { metadata: { finalizers: [...finalizers, hold] } });
      await client.delete(workload.address);
      timeline.note('the Cluster is deleted');
      await workload.waitFor(at, 'Deleting', { timeoutMs: 4 * minutes });
      expect(await workload.machines()).toEqual([]);
      timeline.note('no Machine is left, the control plane is deleted');
      expect(saidOfControlPlane(await described(), 'Deleting')).toBe('True');
      const left = await workload.waitFor(at, (object) => object?.metadata?.finalizers?.join(',') === hold, {
        what: 'our finalizer alone',
      });
      expect(left?.metadata?.deletionTimestamp).toBeDefined();
      await client.merge(at, { metadata: { finalizers: null } });
      await workload.waitFor(workload.address, (object) => object === undefined, { what: 'its end' });
      timeline.note('the Cluster is gone');
      expect(await namedLeftovers(stage.cluster, { namespace: 'default', name: shop })).toEqual([]);
      expect(await storeContents(stage.cluster)).toEqual({ keys: [], users: ['root'], roles: ['root'] });
    },
    8 * minutes,
  );

  test(
    'leaves nothing behind, in its management cluster and on the host',
    async () => {
      await stage[Symbol.asyncDispose]();
      expect(await leftovers(name)).toEqual([]);
    },
    2 * minutes,
  );
});

/** Waits until there are so many nodes, all Ready and of this version, and as many Machines. */
async function onlyMachines(count: number, version: string): Promise<void> {
  const tenant = await workload.tenant();
  const isSuch = (node: PlainObject): boolean => {
    const { kubeletVersion } = (node.status?.nodeInfo ?? {}) as { readonly kubeletVersion?: string };
    return kubeletVersion === version && conditionOf(node, 'Ready')?.status === 'True';
  };
  for (const deadline = deadlineIn(10 * minutes); ;) {
    const [machines, nodes] = await untilReached(() => Promise.all([workload.machines(), tenant.list('v1', 'Node')]));
    const done = machines.length === count && machines.every((machine) => versionOf(machine) === version);
    if (done && nodes.length === count && nodes.every(isSuch)) return;
    if (Date.now() > deadline)
      throw new Error(`The workers are not ${count} of ${version}.\n${await workload.diagnose()}`);
    await pause(500);
  }
}
