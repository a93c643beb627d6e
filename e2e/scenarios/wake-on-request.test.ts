import { beforeAll, describe, expect, test } from '@jest/globals';

import { activatorObjects } from '../../api/names.ts';
import type { PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { giveControlPlaneImages } from '../framework/control-plane-images.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { logStep } from '../framework/log.ts';
import { minutes } from '../framework/minutes.ts';
import { untilReached } from '../framework/network/until-reached.ts';
import { podMemory } from '../framework/pod-memory.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import { TenantStage, isCondition, versionAt } from '../framework/tenant-stage.ts';
import { activatorSelector, installActivator } from '../framework/waking/install-activator.ts';
import { knock } from '../framework/waking/knock.ts';
import { scheduleThatSays } from '../framework/waking/schedule-that-says.ts';

const owned = scenarioResources();
const namespace = 'wake-on-request';
const operator = 'steward-system';

let cluster: ManagementCluster;
let stage: TenantStage;

beforeAll(async () => {
  const steward = owned.use(await shareStewardCluster(owned.harness(`wake-${process.pid}`), logStep));
  cluster = steward.cluster;
  stage = new TenantStage(cluster, namespace);
  await giveControlPlaneImages(cluster.machine, 'v1.36.3');
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
  await installActivator(cluster);
}, 20 * minutes);

/** Where the tenant is reached, and what its clients trust. */
interface Reached {
  readonly endpoint: string;
  readonly ca: string;
}

/** A control plane that is Ready and has fallen asleep by its schedule. */
async function asleep(name: string, serviceType: string): Promise<Reached> {
  await cluster.apply([
    stage.manifest(name, { controlPlane: { deployment: { replicas: 1 }, service: { serviceType } } }),
  ]);
  const { controlPlaneEndpoint = '' } = await stage.waitFor(name, isCondition('Ready', 'True'), {
    timeoutMs: 3 * minutes,
  });
  const ca = (await stage.secret(`${name}-ca`))['ca.crt'] ?? '';
  const schedules = [scheduleThatSays('asleep')];
  await cluster.client.merge(stage.tenant(name), { spec: { sleep: { schedules, wakeOn: ['Request'] } } });
  await stage.waitFor(name, isCondition('Asleep', 'True', 'Scheduled'));
  await stage.untilNoPods(name);
  return { endpoint: controlPlaneEndpoint, ca };
}

/** Seconds until the same command is answered when a person scales the control plane up and waits for its pods, for comparison. */
async function secondsByHand(name: string, command: readonly string[]): Promise<number> {
  const replicas = (count: number): Promise<unknown> =>
    cluster.client.merge(stage.tenant(name), { spec: { controlPlane: { deployment: { replicas: count } } } });
  // Its schedules would let it sleep.
  await cluster.client.merge(stage.tenant(name), { spec: { sleep: null } });
  await replicas(0);
  await stage.untilNoPods(name);
  const began = Date.now();
  await replicas(1);
  const deadline = deadlineIn(2 * minutes);
  const isReady = async (): Promise<boolean> =>
    (await stage.pods(name)).some(
      ({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true,
    );
  while (!(await isReady())) if (Date.now() > deadline) throw new Error(await stage.diagnose(name));
  await untilReached(() => cluster.kubectl(command));
  return (Date.now() - began) / 1000;
}

/** When what happened since a time, in seconds. */
async function steps(name: string, began: number): Promise<string> {
  const since = (time: string | undefined): string =>
    time === undefined ? '?' : ((Date.parse(time) - began) / 1000).toFixed(1);
  const [pod] = await stage.pods(name);
  const ready = pod?.status?.conditions?.find(({ type }) => type === 'Ready') as
    { readonly lastTransitionTime?: string } | undefined;
  const args = ['-n', operator, 'logs', '-l', activatorSelector, '--tail=200'];
  const { stdout } = await cluster.kubectl(args);
  const asked = stdout.split('\n').find((line) => line.includes('wakes up') && line.includes(`/${name}"`));
  return `${asked ?? 'not requested'}; pod created after ${since(pod?.metadata?.creationTimestamp)}, ready after ${since(ready?.lastTransitionTime)}`;
}

/** What the status says about sleep. */
async function sleepOf(name: string): Promise<unknown> {
  return (await cluster.client.read(stage.tenant(name)))?.status?.sleep;
}

describe('A control plane that sleeps', () => {
  test.each(['ClusterIP', 'NodePort'])(
    'answers the first command of an unmodified kubectl through a Service of type %s',
    async (serviceType) => {
      const name = serviceType.toLowerCase();
      const { endpoint } = await asleep(name, serviceType);
      for (const text of ['', 'GET /healthz HTTP/1.1\r\nhost: shop\r\n\r\n']) await knock(endpoint, text);
      expect(await sleepOf(name)).toMatchObject({ state: 'Asleep' });
      const kubeconfig = await stage.kubeconfigFile(name);
      const began = Date.now();
      const command = ['--kubeconfig', kubeconfig, 'get', 'namespaces', '--output', 'name'];
      const { stdout } = await cluster.kubectl(command);
      logStep('answered', `${name}: ${((Date.now() - began) / 1000).toFixed(1)} s after the command began`);
      expect(stdout).toContain('namespace/kube-system');
      await stage.waitFor(name, isCondition('Ready', 'True'));
      expect(await sleepOf(name)).toMatchObject({ state: 'Awake', reason: 'Request', ended: { byRequest: 1 } });
      const slice = stage.activatorSlice(name);
      const isEmpty = (object: PlainObject | undefined): boolean => JSON.stringify(object?.endpoints ?? []) === '[]';
      await cluster.waitFor(slice, isEmpty, { timeoutMs: minutes, diagnose: () => stage.diagnose(name) });
      const requests = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        namespace: operator,
        name: activatorObjects.wakeRequests,
      };
      logStep('steps', `${new Date(began).toISOString()} ${await steps(name, began)}`);
      const isCleared = (object: PlainObject | undefined): boolean => Object.keys(object?.data ?? {}).length === 0;
      await cluster.waitFor(requests, isCleared, { timeoutMs: minutes, diagnose: () => stage.diagnose(name) });
      logStep('by hand', `${name}: ${(await secondsByHand(name, command)).toFixed(1)} s`);
    },
    8 * minutes,
  );

  test(
    'answers a hundred callers at once, and wakes up once',
    async () => {
      const { endpoint, ca } = await asleep('many', 'ClusterIP');
      const began = Date.now();
      const answers = await Promise.all(Array.from({ length: 100 }, () => versionAt(endpoint, ca)));
      logStep('answered', `the last of a hundred after ${((Date.now() - began) / 1000).toFixed(1)} s`);
      expect(new Set(answers)).toEqual(new Set(['v1.36.3']));
      await stage.waitFor('many', isCondition('Ready', 'True'));
      expect(await sleepOf('many')).toMatchObject({ ended: { byRequest: 1 } });
      const pods = await cluster.client.list('v1', 'Pod', operator, activatorSelector);
      for (const { metadata } of pods) {
        const memory = await podMemory(cluster, metadata?.uid ?? '');
        const mebibytes = [...memory.values()].reduce((sum, one) => sum + one, 0);
        logStep('memory', `${metadata?.name ?? ''}: ${mebibytes.toFixed(0)} MiB`);
        expect(mebibytes).toBeLessThanOrEqual(60);
      }
    },
    8 * minutes,
  );
});
