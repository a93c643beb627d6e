import { beforeEach, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { capiCluster } from '../../../api/cluster-api/kinds.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef } from '../../../api/meta.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { FakeClock, settle } from '../../../testing/fake/fake-clock.ts';
import { noBlockerWatches } from '../../../testing/fake/no-blocker-watches.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { definitionsOf } from '../../../testing/builders/infrastructure/definitions.ts';
import { infrastructureProviders } from '../../../testing/builders/infrastructure/providers.ts';
import { stewardControlPlaneController } from '../controller.ts';
import type { InfrastructureCluster } from './infrastructure-patch.ts';
import { InfrastructureWatches } from './infrastructure-watches.ts';

const group = 'infrastructure.cluster.x-k8s.io';
const key = { namespace: 'default', name: 'a' };
const hetzner: KindRef<InfrastructureCluster> = {
  ...{ group, version: 'v1beta1', kind: 'HetznerCluster', plural: 'hetznerclusters', namespaced: true },
};
const ctx: Context = {
  ...{ signal: new AbortController().signal, now: new Date(0), log: silent, event: () => undefined },
};

let server: FakeCluster;
let watches: InfrastructureWatches;
let controller: ReturnType<typeof stewardControlPlaneController>;

beforeEach(async () => {
  server = new FakeCluster({ collectsGarbage: false });
  const options = { cluster: server, clock: new FakeClock(), log: silent, random: () => 0, namespace: '' };
  watches = new InfrastructureWatches({ memory: new ObjectMemory(), ...options, enqueue: () => undefined });
  controller = stewardControlPlaneController({
    cluster: server,
    watchFilter: '',
    blockers: noBlockerWatches,
    infrastructure: watches,
  });
  for (const provider of infrastructureProviders) {
    const [definition] = definitionsOf(provider);
    if (definition !== undefined) await server.seed(kinds.CustomResourceDefinition, definition);
  }
  await server.seed(hetzner, { apiVersion: `${group}/v1beta1`, kind: 'HetznerCluster', metadata: key });
  const controlPlaneRef = { apiGroup: stewardControlPlane.group, kind: 'StewardControlPlane', name: 'a' };
  await server.seed(capiCluster, {
    ...{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata: key },
    spec: { controlPlaneRef, infrastructureRef: { apiGroup: group, kind: 'HetznerCluster', name: 'a' } },
  });
  const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'a', uid: 'u' };
  await server.seed(stewardControlPlane, {
    ...{ apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2', kind: 'StewardControlPlane' },
    metadata: { ...key, ownerReferences: [owner] },
    spec: { version: '1.36.3', replicas: 1, network: { serviceType: 'NodePort' } },
  });
});

async function reconcile() {
  const scp = await server.admin.get(stewardControlPlane, key);
  if (scp === undefined) throw new Error('there is no StewardControlPlane');
  return controller.reconcile(scp, ctx);
}

const pause = (paused: boolean) => server.admin.patch(capiCluster, key, { type: 'merge', body: { spec: { paused } } });

const tenantIsReady = () =>
  server.admin.patch(
    tenantControlPlane,
    key,
    {
      type: 'merge',
      body: {
        status: {
          controlPlaneEndpoint: '203.0.113.9:6443',
          conditions: [
            {
              type: 'TenantConfigured',
              status: 'True',
              reason: 'X',
              message: '',
              lastTransitionTime: '2026-01-01T00:00:00Z',
            },
          ],
          kubernetesResources: {
            version: { status: 'Ready' },
            deployment: { selector: 'a=b', name: 'a', namespace: 'default', readyReplicas: 1 },
          },
        },
      },
    },
    { subresource: 'status' },
  );

const told = async () => (await server.admin.get(hetzner, key))?.spec?.controlPlaneEndpoint;

test('An infrastructure cluster is not written while its Cluster is paused, and as soon as that ends', async () => {
  await reconcile();
  await tenantIsReady();
  await pause(true);
  await reconcile();
  expect(await told()).toBeUndefined();
  await pause(false);
  await reconcile();
  expect(await told()).toEqual({ host: '203.0.113.9', port: 6443 });
});

test('The kind of an infrastructure cluster is watched until its control plane is deleted', async () => {
  await reconcile();
  await tenantIsReady();
  await reconcile();
  expect(watches.watched()).toContain('hetznerclusters');
  const scp = await server.admin.get(stewardControlPlane, key);
  if (scp === undefined) throw new Error('there is no StewardControlPlane');
  await controller.finalize?.(scp, ctx);
  expect(watches.watched()).toEqual([]);
  await settle();
});

test('A Cluster that references another infrastructure cluster gets that one written, and the first is no longer watched', async () => {
  await reconcile();
  await tenantIsReady();
  await reconcile();
  const azure: KindRef<InfrastructureCluster> = { ...hetzner, kind: 'AzureCluster', plural: 'azureclusters' };
  await server.seed(azure, { apiVersion: `${group}/v1beta1`, kind: 'AzureCluster', metadata: key });
  const infrastructureRef = { apiGroup: group, kind: 'AzureCluster', name: 'a' };
  await server.admin.patch(capiCluster, key, { type: 'merge', body: { spec: { infrastructureRef } } });
  await reconcile();
  expect((await server.admin.get(azure, key))?.spec?.controlPlaneEndpoint).toEqual({ host: '203.0.113.9', port: 6443 });
  expect(watches.watched()).not.toContain('hetznerclusters');
  expect(watches.watched()).toContain('azureclusters');
  await watches[Symbol.asyncDispose]();
});
