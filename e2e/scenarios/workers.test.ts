import { setTimeout as pause } from 'node:timers/promises';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { ObjectAddress, PlainObject } from '../cluster/kubernetes-client.ts';
import { parseManifests } from '../cluster/kubernetes-client.ts';
import { leftovers } from '../cluster/remove-harness.ts';
import { slowness } from '../cluster/slowness.ts';
import type { Change } from '../cluster/watch-objects.ts';
import { watchObjects } from '../cluster/watch-objects.ts';
import type { ClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { shareClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { capiVersion, generateWorkload } from '../framework/cluster-api/cluster-stage.ts';
import { namedLeftovers } from '../framework/named-leftovers.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { storeContents } from '../framework/store-contents.ts';
import { logStep } from '../framework/log.ts';
import { conditionOf } from '../framework/tenant-stage.ts';
import { Timeline } from '../framework/load/timeline.ts';
import { bootstrapTemplate, guardedPods, healthCheck, machinePool } from '../framework/workers/worker-manifests.ts';
import { Workload } from '../framework/workload.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { minutes } from '../framework/minutes.ts';

const owned = scenarioResources();
const name = owned.harness(`workers-${process.pid}`);
const farm = 'farm';
const [deployment, pool] = [`${farm}-md-0`, `${farm}-mp-0`];
const app = 'guarded';
/** Labels of Machines with this prefix become labels of their nodes. */
const ofDeployment = { 'node.cluster.x-k8s.io/of': 'deployment' };

let stage: ClusterApiStage;
let workload: Workload;
const timeline = new Timeline('workers');

beforeAll(async () => {
  owned.defer(() => {
    timeline.print();
  });
  stage = owned.use(await shareClusterApiStage(name, logStep));
  workload = new Workload(stage.cluster, farm);
}, 20 * minutes);

/** The template's Cluster; its controller manager notices sooner that a node is silent. */
async function manifests(workers: number): Promise<readonly PlainObject[]> {
  const text = await generateWorkload(stage.clusterApi, { name: farm, workers });
  return parseManifests(text).map((object) => {
    if (object.kind === 'StewardControlPlane')
      return {
        ...object,
        spec: {
          ...object.spec,
          controllerManager: { extraArgs: [`--node-monitor-grace-period=${Math.ceil(25 * slowness())}s`] },
        },
      };
    if (object.kind !== 'MachineDeployment') return object;
    const template = object.spec?.template as object;
    return { ...object, spec: { ...object.spec, template: { ...template, metadata: { labels: ofDeployment } } } };
  });
}

const machineDeployment = (): ObjectAddress => workload.at(capiVersion, 'MachineDeployment', deployment);
const nameOf = (object: PlainObject): string => object.metadata?.name ?? '';

/** The Machines of the MachineDeployment or of the MachinePool. */
async function machinesOf(owner: 'deployment' | 'pool'): Promise<readonly PlainObject[]> {
  const value = owner === 'deployment' ? deployment : pool;
  const machines = await workload.machines();
  return machines.filter(({ metadata }) => metadata?.labels?.[`cluster.x-k8s.io/${owner}-name`] === value);
}

/** What is there of the machines of this Cluster: Machines, nodes, and what runs on the host. */
async function membersOf(owner: 'deployment' | 'pool'): Promise<Readonly<Record<string, readonly string[]>>> {
  const prefix = owner === 'deployment' ? deployment : pool;
  const own = (each: string): boolean => each.startsWith(`${prefix}-`);
  const nodes = (await (await workload.tenant()).list('v1', 'Node')).map(nameOf).filter(own);
  const host = (await stage.cluster.harness.machines()).map((machine) => machine.name).filter(own);
  return {
    machines: (await machinesOf(owner)).map(nameOf).toSorted(),
    nodes: nodes.toSorted(),
    host: host.toSorted(),
  };
}

/** Waits until exactly so many machines are there, in the management cluster, in the tenant and on the host alike. */
async function settled(
  owner: 'deployment' | 'pool',
  count: number,
  without: readonly string[] = [],
): Promise<readonly string[]> {
  for (const deadline = deadlineIn(4 * minutes); ;) {
    const { machines = [], nodes = [], host = [] } = await membersOf(owner);
    const same = machines.join() === nodes.join() && machines.join() === host.join();
    const ready = (await workload.readyNodes(0)).filter((node) => machines.includes(node));
    const fresh = !machines.some((machine) => without.includes(machine));
    if (same && fresh && machines.length === count && ready.length === count) return machines;
    if (Date.now() > deadline)
      throw new Error(
        `The machines of the ${owner} are not ${count}: ${JSON.stringify({ machines, nodes, host })}\n${await workload.diagnose()}`,
      );
    await pause(250);
  }
}

/** The events of a watch of the tenant and of its machines, in order. */
async function observed(act: () => Promise<void>): Promise<readonly string[]> {
  const stop = new AbortController();
  const options = {
    signal: stop.signal,
    onError: (error: unknown) => {
      logStep('watch', String(error));
    },
  };
  const order: string[] = [];
  const once = (what: string): void => {
    if (order.includes(what)) return;
    order.push(what);
    timeline.note(what);
  };
  const onPod = ({ type, object }: Change): Promise<void> => {
    const node = String(object.spec?.nodeName);
    if (conditionOf(object, 'DisruptionTarget')?.reason === 'EvictionByEvictionAPI') once(`evicted from ${node}`);
    if (type === 'DELETED') once(`pod gone from ${node}`);
    return Promise.resolve();
  };
  const onGone =
    (what: string) =>
    ({ type, object }: Change): Promise<void> => {
      if (type === 'DELETED') once(`${what} gone: ${nameOf(object)}`);
      return Promise.resolve();
    };
  const tenant = await workload.tenant();
  const pods = `/api/v1/namespaces/default/pods`;
  const infrastructure = '/apis/infrastructure.cluster.x-k8s.io/v1alpha1/namespaces/default/netnsmachines';
  const watches = Promise.all([
    watchObjects(tenant.config, pods, onPod, options),
    watchObjects(tenant.config, '/api/v1/nodes', onGone('node'), options),
    watchObjects(stage.cluster.client.config, infrastructure, onGone('machine'), options),
  ]);
  try {
    await act();
  } finally {
    stop.abort();
    await watches;
  }
  return order;
}

describe('The workers of a Cluster', () => {
  test(
    'join by a MachineDeployment and by a MachinePool',
    async () => {
      const { kubernetes } = stage.cluster.machine.record;
      await stage.cluster.apply([...(await manifests(2)), ...machinePool(farm, pool, kubernetes)]);
      timeline.note(`Cluster ${farm} is created: two workers of a MachineDeployment, one of a MachinePool`);
      await workload.initialized();
      await settled('deployment', 2);
      const [member = ''] = await settled('pool', 1);
      timeline.note('all three are Ready');
      const found = await workload.waitFor(
        workload.at(capiVersion, 'MachinePool', pool),
        (object) => object?.status?.phase === 'Running',
        { what: 'Running' },
      );
      expect(found?.status).toMatchObject({ replicas: 1, nodeRefs: [{ name: member }] });
      expect(found?.spec?.providerIDList).toEqual([`netns://${stage.cluster.name}/${member}`]);
      const [machine] = await machinesOf('pool');
      expect(machine?.metadata?.ownerReferences).toMatchObject([{ kind: 'MachinePool', name: pool }]);
      await workload.waitFor(workload.address, 'Available');
      timeline.note('the Cluster is Available');
    },
    10 * minutes,
  );

  test(
    'of a MachinePool follow its replicas',
    async () => {
      const at = workload.at(capiVersion, 'MachinePool', pool);
      const before = await settled('pool', 1);
      await stage.cluster.client.merge(at, { spec: { replicas: 2 } });
      expect(await settled('pool', 2)).toEqual(expect.arrayContaining([...before]));
      timeline.note('the MachinePool has two workers');
      await stage.cluster.client.merge(at, { spec: { replicas: 1 } });
      await settled('pool', 1);
      timeline.note('the MachinePool has one again; neither node nor machine of the other is left');
    },
    8 * minutes,
  );

  test(
    'are replaced one after another when their template changes, and pods with a budget are evicted beforehand',
    async () => {
      const tenant = await workload.tenant();
      const old = await settled('deployment', 2);
      await tenant.apply(guardedPods(app, ofDeployment));
      await workload.waitInside(
        workload.at('apps/v1', 'Deployment', app),
        (object) => object?.status?.readyReplicas === 2,
      );
      await stage.cluster.apply([bootstrapTemplate(`${farm}-md-1`, 'generation=second')]);
      let left = 2;
      const order = await observed(async () => {
        const configRef = { name: `${farm}-md-1` };
        await stage.cluster.client.merge(machineDeployment(), {
          spec: { template: { spec: { bootstrap: { configRef } } } },
        });
        timeline.note('the MachineDeployment has another bootstrap template');
        await workload.waitFor(
          machineDeployment(),
          (object) => {
            left = Math.min(left, Number(object?.status?.readyReplicas ?? 0));
            return object?.status?.upToDateReplicas === 2 && object.status.replicas === 2;
          },
          { timeoutMs: 6 * minutes, what: 'two replicas of the new template alone' },
        );
        await settled('deployment', 2, old);
      });
      timeline.note('both workers are new');
      const nodes = (await tenant.list('v1', 'Node')).filter((node) => node.metadata?.labels?.generation === 'second');
      expect(nodes.map(nameOf).toSorted()).toEqual(await settled('deployment', 2));
      expect(left).toBe(2);
      for (const each of old) {
        const place = (what: string): number => order.indexOf(what);
        expect(order).toEqual(expect.arrayContaining([`machine gone: ${each}`, `node gone: ${each}`]));
        if (!order.includes(`pod gone from ${each}`)) continue;
        expect(place(`evicted from ${each}`)).toBeGreaterThanOrEqual(0);
        expect(place(`evicted from ${each}`)).toBeLessThan(place(`pod gone from ${each}`));
        expect(place(`pod gone from ${each}`)).toBeLessThan(place(`machine gone: ${each}`));
        expect(place(`machine gone: ${each}`)).toBeLessThan(place(`node gone: ${each}`));
      }
      expect(order.filter((what) => what.startsWith('evicted'))).not.toEqual([]);
    },
    10 * minutes,
  );

  test(
    'stay while a budget forbids evicting their pods, and are removed as soon as it allows it',
    async () => {
      const tenant = await workload.tenant();
      const { client } = stage.cluster;
      const budget = workload.at('policy/v1', 'PodDisruptionBudget', app);
      const shop = workload.at('apps/v1', 'Deployment', app);
      await workload.waitInside(shop, (object) => object?.status?.readyReplicas === 2);
      await tenant.merge(budget, { spec: { minAvailable: 2 } });
      const [pod] = (await tenant.list('v1', 'Pod', 'default', `app=${app}`)).filter(
        ({ metadata }) => metadata?.deletionTimestamp === undefined,
      );
      const chosen = String(pod?.spec?.nodeName);
      const machine = workload.at(capiVersion, 'Machine', chosen);
      await client.merge(machine, { metadata: { annotations: { 'cluster.x-k8s.io/delete-machine': '' } } });
      await client.merge(machineDeployment(), { spec: { replicas: 1 } });
      await workload.waitFor(
        machine,
        (object) => conditionOf(object, 'Deleting')?.message?.includes(`cannot evict pod`) === true,
        { what: 'a message about the pod that it cannot evict' },
      );
      timeline.note('the budget keeps a worker that is to go');
      const node = await tenant.read({ apiVersion: 'v1', kind: 'Node', name: chosen });
      expect(node?.spec?.unschedulable).toBe(true);
      expect((await membersOf('deployment')).host).toContain(chosen);
      await tenant.merge(budget, { spec: { minAvailable: 1 } });
      const [stays] = await settled('deployment', 1);
      timeline.note('the budget allows it, and the worker is gone');
      expect(stays).not.toBe(chosen);
      expect(await client.read(workload.at('infrastructure.cluster.x-k8s.io/v1alpha1', 'NetnsMachine', chosen))).toBe(
        undefined,
      );
    },
    8 * minutes,
  );

  test(
    'are replaced by a MachineHealthCheck when their kubelet does not answer',
    async () => {
      const [silent = ''] = await settled('deployment', 1);
      await stage.cluster.apply([healthCheck(farm, deployment)]);
      const machine = await stage.cluster.harness.machine(silent);
      // Its service waits for this file as soon as it has ended.
      await machine.exec(['rm', '/var/lib/kubelet/kubeadm-flags.env']);
      expect(await machine.signalProcesses('kubelet', 'SIGKILL')).toBeGreaterThan(0);
      timeline.note(`the kubelet of ${silent} is stopped`);
      await workload.waitFor(
        workload.at(capiVersion, 'Machine', silent),
        (object) => object === undefined || conditionOf(object, 'HealthCheckSucceeded')?.status === 'False',
        { what: 'an unsuccessful health check' },
      );
      timeline.note('its health check fails');
      await settled('deployment', 1, [silent]);
      const found = await workload.waitFor(machineDeployment(), (object) => object?.status?.readyReplicas === 1);
      expect(found?.status).toMatchObject({ replicas: 1, readyReplicas: 1 });
      timeline.note('another worker has taken its place');
      await workload.waitFor(workload.address, 'Available');
    },
    6 * minutes,
  );

  test(
    'are removed completely with their Cluster',
    async () => {
      await stage.cluster.client.delete(workload.address);
      await workload.waitFor(workload.address, (object) => object === undefined, {
        timeoutMs: 4 * minutes,
        what: 'its end',
      });
      timeline.note('the Cluster is gone');
      const host = (await stage.cluster.harness.machines()).map((machine) => machine.name);
      expect(host.filter((each) => each.startsWith(`${farm}-`))).toEqual([]);
      expect(await namedLeftovers(stage.cluster, { namespace: 'default', name: farm })).toEqual([]);
      expect(await storeContents(stage.cluster)).toEqual({ keys: [], users: ['root'], roles: ['root'] });
    },
    6 * minutes,
  );
});

describe('The management cluster', () => {
  test(
    'has nothing left on it, nor on the host',
    async () => {
      await stage[Symbol.asyncDispose]();
      expect(await leftovers(name)).toEqual([]);
    },
    2 * minutes,
  );
});
