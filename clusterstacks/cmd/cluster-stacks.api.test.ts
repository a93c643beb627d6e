import { expect, test } from '@jest/globals';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { capiCluster, capiClusterClass } from '../../api/cluster-api/kinds.ts';
import { patient } from '../../testing/patient.ts';
import { clusterStackRelease } from '../api/cluster-stack-release.ts';
import type { ClusterStackRelease } from '../api/cluster-stack-release.ts';
import { clusterStackOperatorLease } from '../api/names.ts';
import { clusterStack } from '../api/cluster-stack.ts';
import { clusterStackKinds } from '../api/kinds.ts';
import { kinds } from '../../api/core/kinds.ts';
import { roleManifest } from '../../api/generate/role.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { KindRef, Manifest, Resource } from '../../api/meta.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { EventRecorder } from '../../runtime/observe/event-recorder.ts';
import { ForeignLease } from '../../runtime/leader/foreign-lease.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { Manager } from '../../runtime/reconcile/manager.ts';
import { FakeAssetStore } from '../../testing/fake/fake-asset-store.ts';
import { installKinds } from '../../testing/servers/install-kinds.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import { clusterStackControllers } from './cluster-stack-controllers.ts';
import { clusterStacksRole } from '../../cmd/declared-access.ts';

const namespace = 'default';
const template: KindRef = {
  ...{ group: 'infrastructure.cluster.x-k8s.io', version: 'v1beta2', kind: 'DockerClusterTemplate' },
  ...{ plural: 'dockerclustertemplates', namespaced: true },
};

/** A kind of which everything is kept. */
const definition = ({ group, version, kind, plural }: KindRef): Manifest => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${plural}.${group}`,
    annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/cluster-api' },
  },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        ...{ name: version, served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

/** Watches one object until it meets the condition; a deleted one is undefined. */
async function until<T extends Resource>(
  cluster: Cluster,
  at: { readonly kind: KindRef<T>; readonly name: string },
  holds: (object: T | undefined) => boolean,
): Promise<T | undefined> {
  const signal = AbortSignal.timeout(patient(60_000));
  const fieldSelector = `metadata.name=${at.name}`;
  let last: T | undefined;
  try {
    for await (const event of cluster.watch(at.kind, { namespace, fieldSelector, signal })) {
      if (event.type === 'DELETED') last = undefined;
      else if (event.type === 'ADDED' || event.type === 'MODIFIED') last = event.object;
      if (event.type !== 'BOOKMARK' && holds(last)) return last;
    }
  } catch (error) {
    throw new Error(`${at.kind.kind} ${at.name} is not as expected: ${JSON.stringify(last)}`, { cause: error });
  }
  throw new Error('the watch ended');
}

/** The right of the manager's ordinary role that this test needs, too. */
const events = { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] };

async function grant(admin: Cluster, user: string): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  const parts = [...clusterStacksRole.parts, { name: 'events', access: [events] }];
  await admin.create(kinds.ClusterRole, roleManifest({ name: user, parts }));
  const binding = { apiVersion: `${group}/v1`, kind: 'ClusterRoleBinding', metadata: { name: user } };
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: user };
  await admin.create(kinds.ClusterRoleBinding, {
    ...binding,
    roleRef,
    subjects: [{ apiGroup: group, kind: 'User', name: user }],
  });
}

/** A manager with the controllers of cluster stacks, whose charts hold a class and a template. */
async function startManager(cluster: Cluster, assets: FakeAssetStore): Promise<AsyncDisposable> {
  const informers = new InformerFactory({ cluster });
  const chart = (version: string): readonly Manifest[] => [
    {
      apiVersion: apiVersionOf(template),
      kind: template.kind,
      metadata: { name: `cluster-${version}` },
      spec: { a: 1 },
    },
    {
      apiVersion: apiVersionOf(capiClusterClass),
      kind: capiClusterClass.kind,
      metadata: { name: `docker-scs-1-30-${version}` },
      spec: {},
    },
  ];
  const controllers = clusterStackControllers({
    memory: new ObjectMemory(),
    ...{ cluster, informers, assets, source: {}, watchFilter: '', furtherKinds: new Set<string>() },
    renderer: {
      render: ({ chart: path }) => Promise.resolve(chart(/v\d+(?=\.tgz$)/.exec(path)?.[0] ?? '')),
      expand: () => Promise.reject(new Error('classes have no overwrite.yaml')),
    },
    enqueue: (controller, key) => {
      manager.enqueue(controller, key);
    },
  });
  const told = new EventRecorder({
    memory: new ObjectMemory(),
    cluster,
    clock: systemClock,
    log: silent,
    controller: 'test',
    instance: 'test',
  });
  const manager = new Manager({
    memory: new ObjectMemory(),
    controllers,
    cluster,
    informers,
    clock: systemClock,
    log: silent,
    events: told,
  });
  await manager.start();
  return {
    async [Symbol.asyncDispose]() {
      await manager.stop(2000);
      await informers.close();
    },
  };
}

test('a ClusterStack creates ClusterClasses with the permissions of its own role, reverts drift, and deletes releases that no Cluster uses', async () => {
  await using server = await startApiServer();
  const connection = parseKubeconfig(server.kubeconfig);
  const admin = openCluster(connection, { name: 'management' });
  const pair = await server.clientPair('stacks');
  const cluster = openCluster(
    { ...connection, clientCert: pair.certificate, clientKey: pair.key },
    { name: 'management' },
  );
  try {
    for (const kind of [capiCluster, capiClusterClass, template]) {
      await admin.apply(kinds.CustomResourceDefinition, definition(kind), { fieldManager: 'test' });
    }
    await installKinds(admin, clusterStackKinds);
    await grant(admin, 'stacks');
    const assets = new FakeAssetStore();
    assets.push('docker-scs-1-30-v1', { digit: '1', kubernetes: 'v1.30.1' });
    const informers = new InformerFactory({ cluster });
    const rival = new ForeignLease({
      ...{ informers, clock: systemClock, name: clusterStackOperatorLease },
      changed: () => undefined,
    });
    await rival.synced;
    expect(rival.holder).toBeUndefined();
    rival.close();
    await informers.close();
    await using manager = await startManager(cluster, assets);
    const source = { type: 'oci', repository: 'registry.example.com/stacks' };
    const spec = {
      provider: 'docker',
      name: 'scs',
      kubernetesVersion: '1.30',
      noProvider: true,
      pollInterval: '10s',
      source,
    };
    const stack = { apiVersion: apiVersionOf(clusterStack), kind: clusterStack.kind, spec };
    await admin.create(clusterStack, { ...stack, metadata: { name: 'scs', namespace } });
    const isReady = (release: ClusterStackRelease | undefined): boolean => release?.status?.ready === true;
    const v1 = { kind: clusterStackRelease, name: 'docker-scs-1-30-v1' };
    expect((await until(admin, v1, isReady))?.status?.digest).toBe(`sha256:${'1'.repeat(64)}`);
    const usable = (versions: string) => (one: { status?: { usableVersions?: string } } | undefined) =>
      one?.status?.usableVersions === versions;
    await until(admin, { kind: clusterStack, name: 'scs' }, usable('v1'));

    const oldClass = { kind: capiClusterClass, name: 'docker-scs-1-30-v1' };
    const made = await admin.get(capiClusterClass, { namespace, name: oldClass.name });
    await admin.delete(capiClusterClass, { namespace, name: oldClass.name });
    await until(admin, oldClass, (one) => one !== undefined && one.metadata.uid !== made?.metadata.uid);

    const topology = { classRef: { name: oldClass.name } };
    const user = { apiVersion: apiVersionOf(capiCluster), kind: capiCluster.kind, metadata: { name: 'a', namespace } };
    await admin.create(capiCluster, { ...user, spec: { topology } });
    assets.push('docker-scs-1-30-v2', { digit: '2', kubernetes: 'v1.30.2' });
    await until(admin, { kind: clusterStack, name: 'scs' }, usable('v2, v1'));
    expect(await admin.get(capiClusterClass, { namespace, name: oldClass.name })).toBeDefined();

    const body = { spec: { topology: { classRef: { name: 'docker-scs-1-30-v2' } } } };
    await admin.patch(capiCluster, { namespace, name: 'a' }, { type: 'merge', body });
    await until(admin, v1, (one) => one === undefined);
    for (const [kind, name] of [
      [capiClusterClass, oldClass.name],
      [template, 'cluster-v1'],
    ] as const) {
      expect(await admin.get(kind, { namespace, name })).toBeUndefined();
    }
    await until(admin, { kind: clusterStack, name: 'scs' }, usable('v2'));

    await admin.delete(clusterStackRelease, { namespace, name: 'docker-scs-1-30-v2' });
    const inUse = (one: ClusterStackRelease | undefined): boolean =>
      one?.status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'InUse') === true;
    await until(admin, { kind: clusterStackRelease, name: 'docker-scs-1-30-v2' }, inUse);
    expect(await admin.get(template, { namespace, name: 'cluster-v2' })).toBeDefined();
    expect(manager).toBeDefined();
  } finally {
    await Promise.all([admin.close(), cluster.close()]);
  }
}, 180_000);
