import { randomUUID } from 'node:crypto';
import { asStored } from '../../../api/as-stored.ts';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { noBlockerWatches } from '../../../testing/fake/no-blocker-watches.ts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Key, KindRef, Manifest } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { parseManifests } from '../../../e2e/cluster/kubernetes-client.ts';
import { systemClock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { apiVersionOfProvider, definitionsOf } from '../../../testing/builders/infrastructure/definitions.ts';
import type { InfrastructureProvider } from '../../../testing/builders/infrastructure/providers.ts';
import { infrastructureProviders } from '../../../testing/builders/infrastructure/providers.ts';
import { patient } from '../../../testing/patient.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { access } from '../access.ts';
import { contractKind } from '../../../api/cluster-api/contract-kind.ts';
import type { InfrastructureCluster } from './infrastructure-patch.ts';
import { InfrastructureWatches } from './infrastructure-watches.ts';
import { infrastructurePhase } from './infrastructure-phase.ts';

const namespace = `infra-${randomUUID().slice(0, 8)}`;
const endpoint = { host: '203.0.113.9', port: 6443 };
const fieldManager = 'steward-tests';
const manager = 'system:serviceaccount:steward-system:steward-controller-manager';

let server: ApiServer;
let admin: Cluster;
/** As the manager is: with the rights that it declares, and those of config/rbac. */
let cluster: Cluster;

beforeAll(async () => {
  // Its own: the kinds of all providers are nothing that other tests should meet.
  server = await startApiServer();
  const { url, ca, adminCertificate, adminKey } = server;
  admin = openCluster({ server: url, ca, clientCert: adminCertificate, clientKey: adminKey }, { name: 'admin' });
  const pair = await server.clientPair(manager);
  cluster = openCluster({ server: url, ca, clientCert: pair.certificate, clientKey: pair.key }, { name: 'management' });
  await admin.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await grant();
  for (const provider of [...infrastructureProviders, unfit])
    for (const definition of definitionsOf(provider))
      await admin.apply(kinds.CustomResourceDefinition, definition, { fieldManager });
}, 120_000);

afterAll(async () => {
  await Promise.all([admin.close(), cluster.close()]);
  await server.stop();
});

/** A kind whose label promises the contract, and whose schema has no field of it. */
const unfit: InfrastructureProvider = {
  ...{ name: 'unfit', docs: '', version: 'v1', contract: 'v1beta2', cluster: 'UnfitCluster', machine: 'UnfitMachine' },
  ...{ clusterSpec: { region: 'text' }, machineSpec: {}, example: { spec: {} } },
};

const clusterRole = (name: string, rules: readonly object[]): Manifest => ({
  ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules },
});

/** Our own rights, and of the infrastructure only what config/rbac gives. No controller aggregates here. */
async function grant(): Promise<void> {
  const file = join(import.meta.dirname, '../../../config/rbac/bindings.yaml');
  const shipped = parseManifests(await readFile(file, 'utf8'));
  const role = shipped.find(({ metadata }) => metadata?.name === 'steward-infrastructure-clusters');
  const rules = role?.rules as readonly object[];
  for (const [name, each] of [
    ['own', access],
    ['infrastructure', rules],
  ] as const) {
    await admin.apply(kinds.ClusterRole, clusterRole(name, each), { fieldManager });
    const binding = {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name } },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: manager }],
    };
    await admin.apply(kinds.ClusterRoleBinding, binding, { fieldManager });
  }
}

const kindOf = (provider: InfrastructureProvider): KindRef<InfrastructureCluster> => {
  const [definition] = definitionsOf(provider);
  const found = definition === undefined ? undefined : contractKind(asStored(definition), provider.cluster);
  if (found === undefined) throw new Error(`${provider.name} has no label of a contract`);
  return found.kind;
};

const ready = {
  status: {
    conditions: [{ type: 'TenantConfigured', status: 'True' }],
    kubernetesResources: { version: { status: 'Ready' }, deployment: { readyReplicas: 1 } },
  },
} as unknown as TenantControlPlane;

async function reconcile(provider: InfrastructureProvider, watches: InfrastructureWatches) {
  const metadata = { namespace, name: provider.name };
  const infrastructureRef = {
    ...{ apiGroup: 'infrastructure.cluster.x-k8s.io', kind: provider.cluster, name: provider.name },
  };
  const capi = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata, spec: { infrastructureRef } };
  const scp = {
    ...{ apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2', kind: 'StewardControlPlane', metadata },
    spec: { version: 'v1.36.3', network: {} },
  } as unknown as StewardControlPlane;
  const ctx: Context = {
    ...{ signal: AbortSignal.timeout(patient(20_000)), now: new Date(), log: silent, event: () => undefined },
  };
  const scope = { scp, cluster: capi as CapiCluster, tenant: ready, endpoint };
  return infrastructurePhase({ cluster, watchFilter: '', blockers: noBlockerWatches, infrastructure: watches }).run(
    scope,
    ctx,
  );
}

async function withWatches<T>(
  act: (watches: InfrastructureWatches) => Promise<T>,
  enqueue: (key: Key) => void = () => undefined,
) {
  const options = {
    cluster,
    clock: systemClock,
    log: silent,
    random: Math.random,
    namespace: '',
    enqueue,
    memory: new ObjectMemory(),
  };
  await using watches = new InfrastructureWatches(options);
  return await act(watches);
}

const create = (provider: InfrastructureProvider): Promise<InfrastructureCluster> =>
  admin.apply(
    kindOf(provider),
    {
      apiVersion: apiVersionOfProvider(provider),
      kind: provider.cluster,
      metadata: { namespace, name: provider.name, annotations: provider.example.annotations ?? {} },
      spec: provider.example.spec,
    },
    { fieldManager },
  );

describe.each(infrastructureProviders.map((provider) => [provider.name, provider] as const))(
  'An API server with the kinds of %s',
  (name, provider) => {
    test('keeps what the manager writes with its shipped permissions, and gets no write while nothing changes', async () => {
      await withWatches(async (watches) => {
        await create(provider);
        expect(await reconcile(provider, watches)).toEqual({ is: 'done' });
        const after = await admin.get(kindOf(provider), { namespace, name });
        expect(JSON.stringify(after?.spec)).toContain('203.0.113.9');
        const flag = provider.contract === 'v1beta2' ? { initialization: { provisioned: true } } : { ready: true };
        expect(after?.status).toEqual(provider.example.annotations === undefined ? undefined : flag);
        expect(await reconcile(provider, watches)).toEqual({ is: 'done' });
        const later = await admin.get(kindOf(provider), { namespace, name });
        expect(later?.metadata.resourceVersion).toBe(after?.metadata.resourceVersion);
      });
    });
  },
);

test('What the API server drops is not written endlessly: the kind is reported as unsuitable', async () => {
  await withWatches(async (watches) => {
    await create(unfit);
    expect(await reconcile(unfit, watches)).toMatchObject({
      ...{ is: 'waiting', reason: 'FieldsPruned' },
      message: expect.stringMatching(/UnfitCluster unfit.*version v1 lacks the fields of contract v1beta2/),
    });
  });
});

test('A change of the endpoint reaches the control plane through a watch with the shipped permissions', async () => {
  const provider = infrastructureProviders.find(({ name }) => name === 'hetzner');
  if (provider === undefined) throw new Error('there is no such provider');
  const enqueuedKey = Promise.withResolvers<Key>();
  let isFollowed = false;
  await withWatches(
    async (watches) => {
      await create(provider);
      expect(await reconcile(provider, watches)).toEqual({ is: 'done' });
      isFollowed = true;
      const body = { spec: { controlPlaneEndpoint: { host: 'elsewhere.example.com' } } };
      await admin.patch(kindOf(provider), { namespace, name: provider.name }, { type: 'merge', body });
      expect(await enqueuedKey.promise).toEqual({ namespace, name: provider.name });
      expect(await reconcile(provider, watches)).toMatchObject({ reason: 'EndpointMismatch' });
      expect(watches.watchFailure(kindOf(provider))).toBeUndefined();
    },
    (key) => {
      if (isFollowed) enqueuedKey.resolve(key);
    },
  );
});
