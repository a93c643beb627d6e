import { setTimeout as pause } from 'node:timers/promises';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { PlainObject } from '../cluster/kubernetes-client.ts';
import { parseManifests } from '../cluster/kubernetes-client.ts';
import { MovedClocks } from '../framework/clock/moved-clocks.ts';
import type { ClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { startClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { capiVersion, generateWorkload } from '../framework/cluster-api/cluster-stage.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';
import { logStep } from '../framework/log.ts';
import { minutes } from '../framework/minutes.ts';
import { SleepingTenant } from '../framework/night/sleeping-tenant.ts';
import type { WorkerLives } from '../framework/night/sleeping-tenant.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { activatorSelector, installActivator } from '../framework/waking/install-activator.ts';
import type { SeenCondition } from '../framework/tenant-stage.ts';
import { TenantStage, conditionOf, isCondition } from '../framework/tenant-stage.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { healthCheck } from '../framework/workers/worker-manifests.ts';
import { Workload } from '../framework/workload.ts';

const owned = scenarioResources();
const name = owned.harness(`night-${process.pid}`);
const controlPlaneVersion = 'controlplane.cluster.x-k8s.io/v1alpha2';

/** A tenant whose worker has joined by hand, and a Cluster whose worker a MachineDeployment has made. */
const [shop, farm] = ['shop', 'farm'] as const;
const deployment = `${farm}-md-0`;
const nightHours = 12;
const hour = 60 * 60;

let stage: ClusterApiStage;
let tenants: TenantStage;
let workload: Workload;
let clocks: MovedClocks;
let plain: SleepingTenant;
let clustered: SleepingTenant;
/** What was on the workers in the evening, and the Machines. */
let evening: Readonly<Record<typeof shop | typeof farm, WorkerLives>> & { readonly machines: readonly string[] };

beforeAll(async () => {
  stage = owned.use(await startClusterApiStage(name, logStep));
  await impatientClusterApi();
  tenants = new TenantStage(stage.cluster, 'default');
  workload = new Workload(stage.cluster, farm);
  clocks = owned.use(await MovedClocks.start({ harness: name }));
  await installActivator(stage.cluster);
}, 25 * minutes);

/** Has Cluster API call the conditions of nodes unknown after two minutes without a connection, the least that it accepts, instead of five. */
async function impatientClusterApi(): Promise<void> {
  const { cluster } = stage;
  const [inNamespace, manager] = [['-n', 'capi-system'], 'deployment/capi-controller-manager'] as const;
  const value = '--remote-conditions-grace-period=2m';
  const patch = [{ op: 'add', path: '/spec/template/spec/containers/0/args/-', value }];
  await cluster.kubectl([...inNamespace, 'patch', manager, '--type=json', '--patch', JSON.stringify(patch)]);
  await cluster.kubectl([...inNamespace, 'rollout', 'status', manager, kubectlTimeout(120)], {
    timeoutMs: 130_000,
    diagnose: () => cluster.diagnose('capi-system'),
  });
}

/** All clocks move forward. */
async function forward(seconds: number): Promise<void> {
  const { moved, ms } = await clocks.forward(seconds);
  logStep('clocks', `${new Date().toISOString()}: ${moved} processes moved by ${seconds} s within ${ms.toFixed(0)} ms`);
}

/** Has control planes reconciled. The manager does so itself within an hour, but by its monotonic clock. */
async function remind(names: readonly string[]): Promise<void> {
  const annotations = { 'e2e/clock': new Date().toISOString() };
  for (const each of names) await stage.cluster.client.merge(tenants.tenant(each), { metadata: { annotations } });
}

const said = ({ type, status, reason = '' }: SeenCondition): string =>
  `${type}=${status}${reason === '' ? '' : ` ${reason}`}`;

/** The conditions of an object, of these types, as text. */
function tell(object: PlainObject | undefined, types: readonly string[]): string {
  const found = types.map((type) => conditionOf(object, type)).filter((condition) => condition !== undefined);
  return `${object?.kind ?? ''}: ${found.map(said).join(', ')}`;
}

async function controlPlanePods(): Promise<number> {
  return (await tenants.pods(shop)).length + (await tenants.pods(farm)).length;
}

/** Who is behind the endpoint of the tenant that wakes up with a call, for an error. */
async function whoAnswers(): Promise<string> {
  const said = [
    ['get', 'endpointslices', '--output', 'yaml'],
    ['-n', 'steward-system', 'get', 'pods', '--output', 'wide'],
    ['-n', 'steward-system', 'logs', '-l', activatorSelector, '--tail=100', '--timestamps'],
    ['-n', 'steward-system', 'logs', '-l', 'control-plane=controller-manager', '--tail=100'],
    ['get', 'nodes', '--output', 'wide'],
    ['get', 'events', '-A'],
  ].map(async (args) => (await stage.cluster.kubectl(args)).stdout);
  return (await Promise.all(said)).join('\n');
}

/** Machines of the Cluster, with their UIDs. */
async function machines(): Promise<readonly string[]> {
  return (await workload.machines())
    .map(({ metadata }) => `${metadata?.name ?? ''} ${metadata?.uid ?? ''} ${metadata?.deletionTimestamp ?? 'stays'}`)
    .toSorted();
}

/** What Cluster API says about the Cluster, printed; returns its objects. */
async function tellCluster(): Promise<{
  readonly controlPlane?: PlainObject;
  readonly cluster?: PlainObject;
  readonly machine?: PlainObject;
}> {
  const { client } = stage.cluster;
  const controlPlane = await client.read(workload.at(controlPlaneVersion, 'StewardControlPlane'));
  const cluster = await client.read(workload.address);
  const [machine] = await workload.machines();
  logStep('StewardControlPlane', tell(controlPlane, ['Initialized', 'Asleep', 'Available', 'Ready', 'RollingOut']));
  const ofCluster = [
    'ControlPlaneInitialized',
    'ControlPlaneAvailable',
    'RemoteConnectionProbe',
    'WorkersAvailable',
    'Available',
  ];
  logStep('Cluster', tell(cluster, ofCluster));
  logStep(
    'Machine',
    tell(machine, ['Ready', 'Available', 'NodeReady', 'NodeHealthy', 'HealthCheckSucceeded', 'OwnerRemediated']),
  );
  return { ...(controlPlane && { controlPlane }), ...(cluster && { cluster }), ...(machine && { machine }) };
}

/** Lines that only one of two has. */
function difference(before: readonly string[], after: readonly string[]): readonly string[] {
  const gone = before.filter((line) => !after.includes(line)).map((line) => `gone: ${line}`);
  return [...gone, ...after.filter((line) => !before.includes(line)).map((line) => `new: ${line}`)];
}

/** What is not as it was on a tenant's worker, taints because of which pods are evicted, and calls that fail. */
async function changesOf(tenant: SleepingTenant, before: WorkerLives): Promise<readonly string[]> {
  try {
    const { pods, nodes, programs } = await tenant.lives();
    const taints = (await tenant.taints()).map((taint) => `taint ${taint}`);
    return [
      ...difference(before.pods, pods),
      ...difference(before.nodes, nodes),
      ...difference(before.programs, programs),
      ...taints,
    ];
  } catch (error) {
    return [String(error)];
  }
}

/** What is to be the same in each hour of the night; printed as well. */
async function nightState(): Promise<object> {
  const tcp = await stage.cluster.client.read(tenants.tenant(shop));
  logStep('TenantControlPlane', tell(tcp, ['Asleep', 'Ready']));
  const { controlPlane, cluster, machine } = await tellCluster();
  return {
    shop: tell(tcp, ['Asleep', 'Ready']),
    farm: tell(controlPlane, ['Initialized', 'Asleep', 'Available', 'Ready']),
    cluster: tell(cluster, ['ControlPlaneInitialized']),
    machine: tell(machine, ['HealthCheckSucceeded']),
    pods: await controlPlanePods(),
    changes: [
      ...difference(evening.machines, await machines()),
      ...difference(evening[shop].programs, await plain.programs()),
      ...difference(evening[farm].programs, await clustered.programs()),
    ],
  };
}

const expectedAtNight = (): object => ({
  shop: 'TenantControlPlane: Asleep=True Scheduled, Ready=False Sleeping',
  farm: 'StewardControlPlane: Initialized=True Initialized, Asleep=True Scheduled, Available=False Sleeping, Ready=False Sleeping',
  cluster: 'Cluster: ControlPlaneInitialized=True Initialized',
  machine: 'Machine: HealthCheckSucceeded=True HealthCheckSucceeded',
  pods: 0,
  changes: [],
});

const daily = (time: Date): string => `${time.getUTCMinutes()} ${time.getUTCHours()} * * *`;
const later = (time: Date, hours: number): Date => new Date(time.getTime() + hours * hour * 1000);

describe('Two tenants with a worker each', () => {
  test(
    'have pods on workers that joined by hand and through a MachineDeployment with a MachineHealthCheck',
    async () => {
      const { cluster, clusterApi } = stage;
      const { kubernetes: version } = cluster.machine.record;
      await cluster.apply([
        ...parseManifests(await generateWorkload(clusterApi, { name: farm, workers: 1 })),
        healthCheck(farm, deployment),
        tenants.manifest(shop, {
          controlPlane: {
            deployment: { replicas: 1 },
            // Its nodes are to be known by their addresses.
            service: { serviceType: 'NodePort', externalTrafficPolicy: 'Local' },
          },
          kubernetes: { version, kubelet: machineKubelet },
          networkProfile: { serviceCidr: cluster.network.services, podCidr: cluster.network.pods },
          addons: { coreDNS: {}, kubeProxy: {} },
        }),
      ]);
      const limit = { timeoutMs: 4 * minutes };
      const { controlPlaneEndpoint = '' } = await tenants.waitFor(shop, isCondition('Ready', 'True'), limit);
      const joined = await joinByHand(tenants, { tenant: shop, endpoint: controlPlaneEndpoint, worker: 'shop-worker' });
      const kubeconfig = await tenants.kubeconfigFile(shop);
      plain = new SleepingTenant({
        client: await tenants.open(shop),
        worker: joined.machine,
        kubectl: (args) => cluster.kubectl(['--kubeconfig', kubeconfig, ...args]),
        diagnose: async () => `${await tenants.diagnose(shop)}\n${await joined.machine.lastWords()}`,
      });
      await workload.initialized(4 * minutes);
      const [node = ''] = await workload.readyNodes(1, 4 * minutes);
      clustered = new SleepingTenant({
        client: await workload.tenant(),
        worker: await cluster.harness.machine(node),
        kubectl: (args) => workload.kubectl(args),
        diagnose: () => workload.diagnose(),
      });
      const system = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kube-system', name: 'coredns' };
      for (const tenant of [plain, clustered]) {
        await tenant.startPods();
        await tenant.client.waitFor(system, 'Available', { timeoutMs: 2 * minutes });
      }
      await workload.waitFor(workload.address, 'Available', limit);
      const check = workload.at(capiVersion, 'MachineHealthCheck', deployment);
      await workload.waitFor(check, (object) => object?.status?.currentHealthy === 1, { what: 'one healthy Machine' });
      await tellCluster();
      logStep('worker', (await plain.lives()).pods.join('\n'));
    },
    15 * minutes,
  );

  test(
    'fall asleep in the evening, when the clocks have come to the time of their schedules',
    async () => {
      const { client } = stage.cluster;
      // Whole minutes, and enough of them to say it before.
      const bedtime = new Date(Math.ceil(Date.now() / minutes + 10) * minutes);
      const sleepUntil = (hours: number): object[] => [{ sleep: daily(bedtime), wake: daily(later(bedtime, hours)) }];
      const sleep = { schedules: sleepUntil(nightHours + 2), wakeOn: ['Request'] };
      await client.merge(tenants.tenant(shop), { spec: { sleep } });
      const ofFarm = workload.at(controlPlaneVersion, 'StewardControlPlane');
      await client.merge(ofFarm, { spec: { sleep: { schedules: sleepUntil(nightHours) } } });
      // It has to know its nodes before their kubelets call in vain.
      const slice = tenants.activatorSlice(shop);
      const address = (await stage.cluster.harness.machine('shop-worker')).address;
      const knowsNodes = (object: PlainObject | undefined): boolean =>
        JSON.stringify(object?.metadata?.annotations ?? {}).includes(address);
      await stage.cluster.waitFor(slice, knowsNodes, { what: `the address ${address}`, timeoutMs: 2 * minutes });
      for (const each of [shop, farm]) await tenants.waitFor(each, isCondition('Asleep', 'False', 'Awake'));
      evening = { [shop]: await plain.lives(), [farm]: await clustered.lives(), machines: await machines() };
      await forward(Math.ceil((bedtime.getTime() - Date.now()) / 1000) + 1);
      await remind([shop, farm]);
      for (const each of [shop, farm]) await tenants.waitFor(each, isCondition('Asleep', 'True', 'Scheduled'));
      for (const deadline = deadlineIn(2 * minutes); (await controlPlanePods()) > 0;) {
        if (Date.now() > deadline) throw new Error(await tenants.diagnose(shop));
        await pause(200);
      }
      const found = await client.read(tenants.tenant(farm));
      expect((found?.status?.sleep as { since: string }).since > bedtime.toISOString().slice(0, 19)).toBe(true);
    },
    6 * minutes,
  );

  test(
    'sleep for twelve hours, asleep and not broken for Cluster API, with all programs of their workers running',
    async () => {
      const troubles: unknown[] = [];
      // Cluster API notices by its own timers that it does not reach the control plane: this hour is not only a jump of clocks.
      const [machine = ''] = (await workload.machines()).map(({ metadata }) => metadata?.name ?? '');
      await workload.waitFor(workload.at(capiVersion, 'Machine', machine), isCondition('NodeHealthy', 'Unknown'), {
        timeoutMs: 5 * minutes,
        what: 'unknown health of its node',
      });
      for (let passed = 1; passed < nightHours; passed += 1) {
        await forward(hour);
        await remind([shop, farm]);
        await pause(4000);
        const seen = await nightState();
        if (JSON.stringify(seen) !== JSON.stringify(expectedAtNight())) troubles.push({ passed, ...seen });
      }
      expect(troubles).toEqual([]);
    },
    10 * minutes,
  );

  test(
    'wake up in the morning by a call and by a schedule, and lose neither a pod nor a Machine',
    async () => {
      await forward(hour);
      const morning = new Date(Date.now() - 1000);
      const began = performance.now();
      const since = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s after it was morning`;
      const first = plain.kubectl(['get', 'nodes', '--output', 'name']);
      const { stdout } = await first.catch(async (error: unknown) => {
        throw new Error(`${(error as Error).message}\n${await whoAnswers()}`, { cause: error });
      });
      expect(stdout).toBe('node/shop-worker\n');
      logStep('shop', `has answered the first call ${since()}`);
      const tcp = await stage.cluster.client.read(tenants.tenant(shop));
      expect(tcp?.status?.sleep).toMatchObject({ state: 'Awake', ended: { byRequest: 1 } });
      const { seconds = 0 } = (tcp?.status?.sleep as { ended?: { seconds?: number } }).ended ?? {};
      logStep('shop', `has slept for ${(seconds / hour).toFixed(2)} h`);
      expect(seconds).toBeGreaterThanOrEqual(nightHours * hour);
      await remind([farm]);
      await tenants.waitFor(farm, isCondition('Ready', 'True'));
      logStep('farm', `is Ready ${since()}`);
      const found = { [shop]: plain, [farm]: clustered };
      const reached = [shop, farm].map(async (each) => {
        await found[each].podsReachApiServer(morning);
        logStep(each, `is reached by its pods with renewed tokens ${since()}`);
      });
      // Is awaited when pods and Machines have been watched.
      const allReached = Promise.all(reached);
      allReached.catch(() => undefined);
      const troubles = new Set<string>();
      let looks = 0;
      for (const watching = performance.now(); performance.now() - watching < 2 * minutes;) {
        looks += 1;
        for (const each of [shop, farm])
          for (const trouble of await changesOf(found[each], evening[each])) troubles.add(`${each}: ${trouble}`);
        for (const machine of difference(evening.machines, await machines())) troubles.add(machine);
        await pause(1000);
      }
      logStep('seen', `${looks} times within two minutes: ${[...troubles].join('\n') || 'no change'}`);
      await tellCluster();
      await allReached;
      for (const each of [shop, farm]) {
        logStep(each, `refused ${await found[each].refusedCalls(morning)} calls of its pods, whose tokens had expired`);
        expect(await found[each].notes()).toEqual([true, true]);
        const events = await found[each].eventsSince(morning);
        logStep(`Events of ${each}`, [...new Set(events)].join('\n'));
        expect(
          events.filter((event) => /^(TaintManagerEviction|Evicted|Killing|Preempted|NodeNotReady):/.test(event)),
        ).toEqual([]);
      }
      await workload.waitFor(workload.address, 'Available');
      const check = await stage.cluster.client.read(workload.at(capiVersion, 'MachineHealthCheck', deployment));
      expect(check?.status).toMatchObject({ expectedMachines: 1, currentHealthy: 1 });
      expect([...troubles]).toEqual([]);
    },
    10 * minutes,
  );
});
