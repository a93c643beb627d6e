import { setImmediate as settle } from 'node:timers/promises';

import { afterEach, describe, expect, test } from '@jest/globals';

import { kinds } from '../../api/core/kinds.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { TenantWorld } from '../../testing/worlds/tenant-world.ts';
import { fieldManager } from './dependencies.ts';
import { ownedKinds, secretIdentities } from './watches.ts';
import { hashLabel } from './workload/rollout/rollout-facts.ts';

const opened: InformerFactory[] = [];

afterEach(async () => {
  for (const informers of opened.splice(0)) await informers.close();
});

/** A world whose caches follow what is stored, as those of a manager do, and in which pods start when they are told to. */
async function newWorld(): Promise<TenantWorld> {
  const world = new TenantWorld({
    migrations: {
      namespace: 'steward-system',
      serviceAccount: 'steward-migrate',
      image: () => Promise.resolve('steward:test'),
      minimumHoldMs: 0,
    },
    informers: ({ cluster, clock }) => {
      const informers = new InformerFactory({ cluster: cluster.admin, clock });
      opened.push(informers);
      for (const selection of ownedKinds) informers.informer(selection);
      informers.informer({ kind: dataStore });
      informers.informer({ kind: tenantControlPlane });
      informers.informer(secretIdentities);
      return informers;
    },
  });
  world.podsStart = false;
  await world.create();
  await settle();
  return world;
}

/** Lets the watch of Secrets hear of something that is newer than the tenant, as it does all the time where many are created. */
async function hearOfSecrets({ cluster }: TenantWorld): Promise<void> {
  await cluster.seed(kinds.Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'other', name: 'some' },
  });
  await settle();
}

/** What a reconcile asks the management cluster for. */
async function requests(world: TenantWorld): Promise<readonly string[]> {
  const before = world.cluster.calls.length;
  await world.reconcile();
  await settle();
  return world.cluster.calls
    .slice(before)
    .map(({ verb, kind, subresource = '' }) => `${verb} ${kind?.kind ?? ''}${subresource === '' ? '' : '/status'}`);
}

const isRead = (request: string): boolean => /^(get|list) /.test(request);

// The address of the management API, its nodes and budgets of others are read for all tenants together.
const common = ['get EndpointSlice', 'list Node', 'list PodDisruptionBudget'];
const alwaysRead = [
  ...['get ConfigMap', 'get DataStore', 'get Deployment', 'get NetworkPolicy', 'get PodDisruptionBudget'],
  // One of the Services is that of the management API.
  ...['get RetainedControlPlane', 'get Service', 'get Service', 'list Secret'],
];

test('the first reconcile reads what may exist already, and nothing of what it makes', async () => {
  const world = await newWorld();
  await hearOfSecrets(world);
  const made = await requests(world);
  const own = made.filter((request) => isRead(request) && !common.includes(request)).sort();
  expect(own).toEqual(alwaysRead);
  const written = made.filter((request) => !isRead(request));
  expect(written.filter((request) => request.startsWith('apply ')).length).toBe(13);
  expect(written.filter((request) => !request.startsWith('apply ')).sort()).toEqual([
    ...['create Secret', 'create Secret', 'create Secret'],
    ...['patch TenantControlPlane', 'patch TenantControlPlane/status'],
  ]);
});

const former = {
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'TenantControlPlane',
  name: 'tenant',
  uid: 'uid-of-a-former-one',
  controller: true,
};

describe('A Secret of a former tenant of the same name, applied by us, is not taken over', () => {
  const key = { namespace: 'default', name: 'tenant-api-server-certificate' };
  const left = async ({ cluster }: TenantWorld): Promise<void> => {
    const metadata = { ...key, ownerReferences: [former] };
    const secret = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata, data: { theirs: 'eA==' } };
    await cluster.admin.apply(kinds.Secret, secret, { fieldManager });
  };
  const expectUntouched = async (world: TenantWorld): Promise<void> => {
    expect(await world.cluster.admin.get(kinds.Secret, key)).toMatchObject({
      metadata: { ownerReferences: [former] },
      data: { theirs: 'eA==' },
    });
    expect(JSON.stringify((await world.read()).status)).toContain('uid-of-a-former-one');
  };

  test('although it lost its labels', async () => {
    const world = await newWorld();
    await left(world);
    await hearOfSecrets(world);
    await requests(world);
    await expectUntouched(world);
  });

  test('although no watch has reported it yet', async () => {
    const world = await newWorld();
    world.cluster.endWatches(new Error('the connection was lost'));
    await settle();
    await left(world);
    const made = await requests(world);
    await expectUntouched(world);
    // What is behind is not relied upon.
    const secrets = made.filter((request) => request === 'get Secret');
    expect(secrets.length).toBeGreaterThan(5);
  });
});

test('a tenant whose pods became ready is read once, and written only as far as it has changed', async () => {
  const world = await newWorld();
  await requests(world);
  await world.startPods();
  await settle();
  // The roots of trust are created, so that nobody's are ever replaced; a field manager owns their fields from the first apply on.
  const roots = ['apply Secret', 'apply Secret', 'apply Secret'];
  expect(await requests(world)).toEqual(['list Secret', ...roots, 'patch TenantControlPlane/status']);
  expect(await requests(world)).toEqual(['list Secret']);
  expect(await world.state()).toBe('Ready');
});

test('after a restart, the API server is asked, because nothing is known of what was applied', async () => {
  const world = await newWorld();
  await requests(world);
  await world.startPods();
  await settle();
  await requests(world);
  world.restart();
  const asked = await requests(world);
  expect(asked).toEqual(expect.arrayContaining(['get Service', 'get Deployment', 'list Secret']));
  expect(asked.filter((request) => !isRead(request))).toEqual([]);
});

test('what others change is read from the API server or put back, however old the cache is', async () => {
  const world = await newWorld();
  await requests(world);
  await world.startPods();
  await settle();
  await requests(world);
  const key = { namespace: 'default', name: 'tenant' };
  const wanted = (await world.deployment())?.spec?.replicas;
  await world.cluster.admin.delete(kinds.Deployment, key);
  await settle();
  await requests(world);
  expect(await world.deployment()).toBeDefined();
  const body = { spec: { replicas: 7 } };
  await world.cluster.admin.patch(kinds.Deployment, key, { type: 'merge', body }, { fieldManager: 'somebody' });
  await settle();
  await requests(world);
  expect((await world.deployment())?.spec?.replicas).toBe(wanted);
});

test('while a watch is interrupted, the API server is asked', async () => {
  const world = await newWorld();
  await requests(world);
  await world.startPods();
  await settle();
  await requests(world);
  expect(await requests(world)).toEqual(['list Secret']);
  world.cluster.endWatches(new Error('the connection was lost'));
  await settle();
  expect(await requests(world)).toEqual(expect.arrayContaining(['get Service', 'get Deployment', 'get DataStore']));
});

test('a DataStore that the status does not record as the one in use is read', async () => {
  const world = await newWorld();
  await requests(world);
  await world.startPods();
  await settle();
  await requests(world);
  const body = { status: { storage: { dataStoreName: null } } };
  const key = { namespace: 'default', name: 'tenant' };
  await world.cluster.admin.patch(tenantControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
  await settle();
  expect(await requests(world)).toContain('get DataStore');
});

describe('The Deployment and the Service come from the API server', () => {
  const key = { namespace: 'default', name: 'tenant' };
  const running = async (): Promise<TenantWorld> => {
    const world = await newWorld();
    await requests(world);
    await world.startPods();
    await settle();
    await requests(world);
    return world;
  };

  test('while the Service leads to the pods of one generation only', async () => {
    const world = await running();
    const body = { spec: { selector: { [hashLabel]: 'older' } } };
    await world.cluster.admin.patch(kinds.Service, key, { type: 'merge', body }, { fieldManager });
    await settle();
    expect(await requests(world)).toEqual(expect.arrayContaining(['get Service', 'get Deployment']));
  });

  test('while an autoscaler sets how many pods run', async () => {
    const world = await running();
    const body = { spec: { controlPlane: { deployment: { autoscaling: { minReplicas: 1, maxReplicas: 3 } } } } };
    await world.cluster.admin.patch(tenantControlPlane, key, { type: 'merge', body }, { fieldManager: 'somebody' });
    await settle();
    await requests(world);
    expect(await requests(world)).toEqual(expect.arrayContaining(['get Service', 'get Deployment']));
  });

  test('while data is moved', async () => {
    const world = await running();
    const share = (await world.read()).status?.storage;
    const migration = { phase: 'Copying', source: share, target: share };
    const body = { status: { storage: { migration } } };
    await world.cluster.admin.patch(tenantControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
    await settle();
    expect(await requests(world)).toEqual(expect.arrayContaining(['get Service', 'get Deployment']));
  });
});
