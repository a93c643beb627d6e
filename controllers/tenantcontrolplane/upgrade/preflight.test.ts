import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { annotations, labels } from '../../../api/names.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { UnreachableError } from '../../../runtime/client/errors.ts';
import { StoreError } from '../../../stores/store-error.ts';
import type { Call } from '../../../testing/fake/fake-faults.ts';
import { MigrationWorld } from '../../../testing/worlds/migration-world.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { callsOf, tenantShape, untilDeath } from '../../../testing/worlds/tenant-shape.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import { crashPoints } from '../../../testing/worlds/crash-points.ts';

const minute = 60_000;
const old = { kubernetes: { version: 'v1.35.4' } } as const;
const next = { spec: { kubernetes: { version: 'v1.36.3' } } };
const flowschemas =
  'apiserver_requested_deprecated_apis{group="flowcontrol.apiserver.k8s.io",removed_release="1.36",resource="flowschemas",subresource="",version="v1beta3"} 1\n';

async function running(changes: TenantControlPlaneChanges = {}): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create({ ...old, ...changes });
  await world.settle();
  return world;
}

const held = (world: TenantWorld): Promise<string> => world.condition('UpgradeAllowed');

/** The version of the pods, and of what the tenant's nodes find. */
async function versions(world: TenantWorld): Promise<readonly (string | undefined)[]> {
  const image = (await world.deployment())?.spec?.template.spec?.containers[0]?.image;
  const key = { namespace: 'kube-system', name: 'kubeadm-config' };
  const found = await world.tenant.admin.get(kinds.ConfigMap, key);
  const { status } = await world.read();
  return [
    /:(v.*)$/.exec(image ?? '')?.[1],
    /kubernetesVersion: (\S+)/.exec(found?.data?.ClusterConfiguration ?? '')?.[1],
    status?.kubernetesResources?.version?.version,
  ];
}

const isQuestion = ({ path = '' }: Call): boolean => path.startsWith('/api/v1/nodes') || path === '/metrics';
const questions = (world: TenantWorld): number => world.tenant.calls.filter(isQuestion).length;

const stays = ['v1.35.4', 'v1.35.4', 'v1.35.4'];
const goes = ['v1.36.3', 'v1.36.3', 'v1.36.3'];

describe('an upgrade that is held while the data moves to another DataStore', () => {
  test('does not begin with the switch, whatever held it and even if it is forced, and follows afterwards', async () => {
    const world = new MigrationWorld();
    await world.running(old);
    world.kubelets = ['v1.31.0'];
    await world.change(next);
    await world.settle();
    expect(await held(world)).toContain('KubeletsTooOld');
    await world.moveTo('other');
    await world.until('Copying');
    world.kubelets = [];
    await world.change({ metadata: { annotations: { [annotations.upgradeAnyway]: 'v1.36.3' } } });
    await world.until('ResumingWrites');
    expect(await held(world)).toBe(
      'False MigrationInProgress: upgrade from v1.35.4 to v1.36.3 is held: waiting for the data migration to finish; the condition Migrating shows its progress',
    );
    expect((await versions(world))[0]).toBe('v1.35.4');
    expect((await world.migrate()).phase).toBe('Succeeded');
    await world.settle();
    expect(await versions(world)).toEqual(goes);
  });
});

describe('an upgrade to another minor', () => {
  test('begins when all checks pass, and then gives the tenant the documents of the new minor', async () => {
    const world = await running();
    world.kubelets = ['v1.33.0', 'v1.35.4', ''];
    world.metrics = flowschemas.replace('1.36', '1.37');
    await world.change(next);
    await world.settle();
    expect(await held(world)).toBe('True');
    expect(await versions(world)).toEqual(goes);
  });

  test('waits for kubelets that are too old, names some of them and the remedy, and begins once they are gone', async () => {
    const world = await running();
    world.kubelets = ['v1.33.9', ...Array.from({ length: 6 }, () => 'v1.32.1'), 'v1.31.0'];
    await world.change(next);
    await world.settle();
    expect(await held(world)).toBe(
      'False KubeletsTooOld: upgrade from v1.35.4 to v1.36.3 is held: 7 nodes run kubelets older than v1.33, the oldest version that v1.36 supports: node-1 (v1.32.1), node-2 (v1.32.1), node-3 (v1.32.1), node-4 (v1.32.1), node-5 (v1.32.1) and 2 more; upgrade or remove them; the checks run again every minute; to skip the checks, set the annotation steward.butlerlabs.dev/upgrade-anyway=v1.36.3',
    );
    expect(await versions(world)).toEqual(stays);
    world.kubelets = ['v1.33.9'];
    await world.clock.advance(minute);
    await world.settle();
    expect(await held(world)).toBe('True');
    expect(await versions(world)).toEqual(goes);
  });

  test('waits while clients request APIs that it no longer serves', async () => {
    const world = await running();
    world.metrics = flowschemas;
    await world.change(next);
    await world.settle();
    expect(await held(world)).toContain(
      'False RemovedApisInUse: upgrade from v1.35.4 to v1.36.3 is held: clients have requested APIs that v1.36 no longer serves: flowschemas of flowcontrol.apiserver.k8s.io/v1beta3; migrate these clients, then restart the pods',
    );
    expect(await versions(world)).toEqual(stays);
  });

  test('queries every API server, because each reports only its own requests', async () => {
    const world = await running();
    for (const [name, podIP] of Object.entries({ a: '10.0.0.1', b: '10.0.0.2', starting: '' })) {
      const metadata = { name, namespace: 'default', labels: { [labels.name]: 'tenant' } };
      const status = { phase: 'Running', ...(podIP !== '' && { podIP }) };
      await world.cluster.seed(kinds.Pod, { apiVersion: 'v1', kind: 'Pod', metadata, status });
    }
    await world.change(next);
    await world.reconcile();
    expect(world.tenant.calls.filter(({ path }) => path === '/metrics')).toHaveLength(2);
  });

  test('waits for a DataStore whose own condition reports that it is unusable', async () => {
    const world = await running();
    const condition = { type: 'Ready', status: 'False', reason: 'NotReady', message: 'Reachable: no answer' };
    const body = { status: { conditions: [{ ...condition, lastTransitionTime: '2030-01-01T00:00:00Z' }] } };
    await world.cluster.admin.patch(dataStore, { name: 'default' }, { type: 'merge', body }, { subresource: 'status' });
    await world.change(next);
    await world.settle();
    expect(await held(world)).toContain(
      'False StoreUnhealthy: upgrade from v1.35.4 to v1.36.3 is held: DataStore default cannot be used: Reachable: no answer; pods of the new version would not become ready; repair the DataStore first; ',
    );
    expect(await versions(world)).toEqual(stays);
  });

  test('waits for a datastore that does not answer, although its condition does not report that yet', async () => {
    const world = await running();
    world.store.silence = new StoreError('Unreachable', 'etcd:2379: no answer');
    await world.change(next);
    await world.settle();
    expect(await held(world)).toContain('False StoreUnhealthy: ');
    world.store.silence = undefined;
    await world.clock.advance(minute);
    await world.settle();
    expect(await versions(world)).toEqual(goes);
  });

  test('reports all failed checks at once', async () => {
    const world = await running();
    world.store.silence = new StoreError('Unreachable', 'etcd:2379: no answer');
    world.kubelets = ['v1.30.0'];
    world.metrics = flowschemas;
    await world.change(next);
    await world.settle();
    expect(await held(world)).toMatch(/StoreUnhealthy: .*etcd:2379: no answer.*1 node runs a kubelet.*flowschemas/);
  });

  test('is done all the same when an annotation names its version, and then no server is queried', async () => {
    const world = await running();
    world.kubelets = ['v1.30.0'];
    const force = (version: string): object => ({
      metadata: { annotations: { [annotations.upgradeAnyway]: version } },
    });
    await world.change({ ...next, ...force('v1.36.2') });
    await world.settle();
    expect(await versions(world)).toEqual(stays);
    const asked = questions(world);
    await world.change(force('1.36.3'));
    await world.settle();
    expect(await versions(world)).toEqual(goes);
    expect(questions(world)).toBe(asked);
  });

  test('waits while the control plane sleeps: the installed version wakes up, and is queried', async () => {
    const world = await running();
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    await world.change(next);
    const { afterMs = 0 } = await world.settle();
    expect(afterMs).toBeGreaterThan(minute);
    expect(await held(world)).toContain(
      'False Sleeping: upgrade from v1.35.4 to v1.36.3 is held: spec.controlPlane.deployment.replicas is 0, so there is no API server',
    );
    expect(await world.state()).toBe('Sleeping');
    expect(await versions(world)).toEqual(stays);
    await world.change({ spec: { controlPlane: { deployment: { replicas: 2 } } } });
    await world.settle();
    expect(questions(world)).toBe(2);
    expect(await versions(world)).toEqual(goes);
  });

  test('that has begun is not held anymore, whatever is found and whichever process checks', async () => {
    const world = await running();
    world.podsStart = false;
    await world.change(next);
    await world.settle();
    world.kubelets = ['v1.30.0'];
    world.restart();
    await world.reportPods({ replicas: 4, updatedReplicas: 2, readyReplicas: 2, unavailableReplicas: 2 });
    const asked = questions(world);
    await world.settle();
    expect(await held(world)).toBe('True');
    expect(await world.state()).toBe('Upgrading');
    expect((await versions(world))[0]).toBe('v1.36.3');
    expect(questions(world)).toBe(asked);
  });
});

test('an upgrade that has begun is not reverted while its pods run, even if the spec bypassed admission', async () => {
  const world = await running();
  world.podsStart = false;
  await world.change(next);
  await world.settle();
  await world.change({ spec: { kubernetes: { version: 'v1.35.4' } } });
  await world.settle();
  expect((await versions(world))[0]).toBe('v1.36.3');
  expect(await world.condition('ControlPlaneAvailable')).toContain('is a downgrade from v1.36.3');
});

describe('a version that the webhooks would have refused', () => {
  async function refused(version: string): Promise<TenantWorld> {
    const world = await running();
    await world.change({ spec: { kubernetes: { version } } });
    await world.settle();
    return world;
  }

  test('is shown nowhere as the version of the tenant, and no server is queried about it', async () => {
    const world = await refused('v1.37.0');
    expect(await versions(world)).toEqual(stays);
    expect(await world.condition('ControlPlaneAvailable')).toMatch(/^False InvalidSpec: .*"v1.37.0" is newer than/);
    const key = { namespace: 'default', name: 'tenant-kubeadmconfig' };
    const shown = await world.cluster.admin.get(kinds.ConfigMap, key);
    expect(shown?.data?.ClusterConfiguration).toContain('"kubernetesVersion":"v1.35.4"');
    expect(questions(world)).toBe(0);
  });

  test('is reported once when it is none at all, and certificates are still renewed', async () => {
    const world = await refused('latest');
    expect(await world.condition('ControlPlaneAvailable')).toBe(
      'False InvalidSpec: spec.kubernetes.version "latest" is not a Kubernetes version: use a full version such as v1.36.0',
    );
    expect(await world.condition('CertificatesReady')).toBe('True');
    expect(await world.condition('KubeconfigsReady')).toBe('True');
    expect(await versions(world)).toEqual(stays);
  });
});

describe('while an upgrade is held', () => {
  async function holding(): Promise<TenantWorld> {
    const world = await running();
    world.kubelets = ['v1.30.0'];
    await world.change(next);
    await world.settle();
    return world;
  }

  test('the control plane is Ready, an Event reports the hold once, and a check with the same result writes nothing', async () => {
    const world = await holding();
    expect(await world.state()).toBe('Ready');
    const ready = (await world.read()).status?.conditions?.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({ status: 'True', reason: 'UpgradeHeld' });
    const writes = await world.writes();
    for (let looks = 0; looks < 3; looks += 1) {
      await world.clock.advance(minute);
      await world.reconcile();
    }
    expect(await world.writes()).toBe(writes);
    expect(world.events.filter((event) => event.startsWith('KubeletsTooOld'))).toHaveLength(1);
  });

  test('every other requested change is made, in the running version', async () => {
    const world = await holding();
    await world.change({ spec: { controlPlane: { deployment: { replicas: 3 } }, addons: { kubeProxy: {} } } });
    await world.settle();
    expect((await world.deployment())?.spec?.replicas).toBe(3);
    const key = { namespace: 'kube-system', name: 'kube-proxy' };
    const proxy = await world.tenant.admin.get(kinds.DaemonSet, key);
    expect(proxy?.spec?.template.spec?.containers[0]?.image).toMatch(/:v1\.35\.4$/);
    expect(await versions(world)).toEqual(stays);
  });

  test('reconciles for other reasons query the tenant no more often than once a minute', async () => {
    const world = await holding();
    const asked = questions(world);
    for (let reconciles = 0; reconciles < 20; reconciles += 1) {
      await world.clock.advance(2_000);
      const { afterMs = 0 } = await world.reconcile();
      expect(afterMs).toBeLessThanOrEqual(minute);
    }
    expect(questions(world)).toBe(asked);
    expect(await held(world)).toContain('KubeletsTooOld');
    world.kubelets = [];
    await world.clock.advance(20_000);
    await world.settle();
    expect(await versions(world)).toEqual(goes);
  });

  test.each<[string, (world: TenantWorld) => Promise<unknown>]>([
    ['the spec', (world) => world.change({ spec: { addons: { kubeProxy: {} } } })],
    ['another version', (world) => world.change({ spec: { kubernetes: { version: 'v1.36.2' } } })],
    ['the number of ready pods', (world) => world.reportPods({ replicas: 2, updatedReplicas: 2, readyReplicas: 1 })],
    [
      'the store',
      (world) =>
        world.cluster.admin.patch(
          dataStore,
          { name: 'default' },
          { type: 'merge', body: { spec: { tlsConfig: null, endpoints: ['etcd:2379', 'etcd:2380'] } } },
        ),
    ],
  ])('the tenant is queried at once when %s changes', async (_what, change) => {
    const world = await holding();
    const asked = questions(world);
    await change(world);
    await world.reconcile();
    expect(questions(world)).toBeGreaterThan(asked);
  });

  test('reverting the version in the spec ends the hold', async () => {
    const world = await holding();
    const before = (await world.deployment())?.metadata.generation;
    await world.change({ spec: { kubernetes: { version: 'v1.35.4' } } });
    await world.settle();
    expect(await held(world)).toBe('True');
    expect((await world.deployment())?.metadata.generation).toBe(before);
  });
});

describe('no server is queried', () => {
  test.each([
    ['nothing', {}],
    ['the patch', { spec: { kubernetes: { version: 'v1.35.9' } } }],
    ['another field', { spec: { controlPlane: { deployment: { replicas: 3 } } } }],
  ])('when %s changes', async (_what, change) => {
    const world = await running();
    world.kubelets = ['v1.30.0'];
    world.metrics = flowschemas;
    await world.change(change);
    await world.settle();
    await world.reconcile();
    expect(questions(world)).toBe(0);
    expect(await held(world)).toBe('True');
  });

  test('before the control plane has served for the first time', async () => {
    const world = new TenantWorld();
    world.podsStart = false;
    await world.create(old);
    await world.settle();
    await world.change(next);
    await world.settle();
    expect(questions(world)).toBe(0);
    expect((await versions(world))[0]).toBe('v1.36.3');
  });
});

describe('an API server of a tenant that cannot be queried', () => {
  const silent = 'False ApiServerUnreachable: upgrade from v1.35.4 to v1.36.3 is held: ';

  test.each<[string, (call: Call) => void | Promise<void>, string]>([
    [
      'cannot be reached',
      () => {
        throw new UnreachableError('GET /secret-token', { cause: new Error('connect ECONNREFUSED') });
      },
      'connect ECONNREFUSED',
    ],
    ['answers with a list for ever', () => undefined, 'the list of nodes has more than 100 pages'],
  ])('because it %s holds the upgrade and says so', async (how, act, words) => {
    const world = await running();
    if (how.includes('for ever')) {
      world.nodePage = () => JSON.stringify({ kind: 'NodeList', metadata: { continue: 'more' }, items: [] });
    }
    world.tenant.before((call) => (isQuestion(call) ? act(call) : undefined));
    await world.change(next);
    await world.settle();
    expect(await held(world)).toContain(
      `${silent}the nodes and metrics of the tenant's API server cannot be read: ${words}; see the logs of its pods; the checks run again every minute; `,
    );
    expect(await versions(world)).toEqual(stays);
    expect(questions(world)).toBeLessThanOrEqual(300);
  });

  test.each(['<html>', 'null', '{}', '{"kind":"NodeList","items":7}', '{"kind":"PodList","items":[]}'])(
    'because it answers %s holds the upgrade and says so',
    async (body) => {
      const world = await running();
      world.nodePage = () => body;
      await world.change(next);
      await world.settle();
      expect(await held(world)).toContain('the response is not a NodeList');
    },
  );

  test('because it does not answer in time holds the upgrade after ten seconds, and is not queried further', async () => {
    const world = await running();
    await world.change(next);
    const stuck = Promise.withResolvers<undefined>();
    const asked = Promise.withResolvers<undefined>();
    world.tenant.before((call) => {
      if (call.path !== '/metrics') return;
      asked.resolve(undefined);
      return stuck.promise;
    });
    const reconciling = world.reconcile();
    await asked.promise;
    await world.clock.advance(10_000);
    stuck.resolve(undefined);
    await reconciling;
    expect(await held(world)).toContain('no complete response within 10 s');
  });

  test('because it is not ready gets no query at all', async () => {
    const world = await running();
    world.podsStart = false;
    await world.reportPods({ replicas: 2, updatedReplicas: 2, readyReplicas: 0, unavailableReplicas: 2 });
    await world.change(next);
    await world.settle();
    expect(await held(world)).toContain(
      'no pod of the control plane is ready, so the preflight checks cannot run; the condition ControlPlaneAvailable',
    );
    expect(questions(world)).toBe(0);
  });

  test('leads to no write when it varies its refusals', async () => {
    const world = await running();
    let refusals = 0;
    world.tenant.before((call) => {
      refusals += 1;
      if (isQuestion(call)) throw new UnreachableError(`GET /?continue=${refusals}`, { cause: new Error('no') });
    });
    await world.change(next);
    await world.settle();
    const writes = await world.writes();
    await world.clock.advance(minute);
    await world.reconcile();
    expect(await world.writes()).toBe(writes);
  });
});

describe('a manager that dies during an upgrade', () => {
  test('after any call leads to the same objects', async () => {
    const upgraded = async (): Promise<TenantWorld> => {
      const world = await running();
      await world.change(next);
      return world;
    };
    const model = await upgraded();
    const total = await callsOf(model, () => model.settle());
    const expected = await tenantShape(model);
    for (const calls of crashPoints(total, 'upgrade')) {
      const world = await upgraded();
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await untilDeath(world);
      world.restart();
      await world.settle();
      expect({ calls, versions: await versions(world) }).toEqual({ calls, versions: goes });
      expect({ calls, shape: await tenantShape(world) }).toEqual({ calls, shape: expected });
    }
  }, 300_000);
});
