import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../api/meta.ts';
import { labels, writePermissionsPolicy } from '../../../api/names.ts';
import { sleep, systemClock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { openHttp2Line } from '../../../runtime/client/http2/http2-line.ts';
import { Http2Sessions } from '../../../runtime/client/http2/http2-sessions.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import { TenantWatches } from '../../../tenants/tenant-watches.ts';
import { konnectivityAddon } from '../../../testing/builders/konnectivity-addon.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import { workerBootstrapAddon } from '../../../testing/builders/worker-bootstrap-addon.ts';
import { selectionInTenant } from '../shared/selection-in-tenant.ts';
import { endpointKinds, policyKinds, tenantKinds } from '../shared/tenant-kinds.ts';

const addons = {
  coreDNS: {},
  kubeProxy: {},
  konnectivity: konnectivityAddon(),
  workerBootstrap: workerBootstrapAddon({ autoApprove: false }),
};
const insideKinds = [...tenantKinds, ...policyKinds, ...endpointKinds, kinds.Secret];

const limited = { name: writePermissionsPolicy };
const everything = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };

let server: ApiServer;
let admin: Cluster;
let watches: TenantWatches;

const openLine = () => {
  const options = { clock: systemClock, random: () => 0 };
  return openHttp2Line(parseKubeconfig(server.kubeconfig), { ...options, sessions: new Http2Sessions(options) });
};
const newWatches = (): TenantWatches =>
  new TenantWatches({
    memory: new ObjectMemory(),
    clock: systemClock,
    random: () => 0,
    select: selectionInTenant,
    open: openLine,
  });

beforeAll(async () => {
  server = await startApiServer({ flags: { 'endpoint-reconciler-type': 'none' } });
  admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'tenant' });
  watches = newWatches();
}, 180_000);

afterAll(async () => {
  watches.close();
  await admin.close();
  await server.stop();
}, 60_000);

/** Neither a complete watch nor the API server, which reads policies once a second, reports that it is so. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(systemClock, 50);
}

type Inside = ReadonlyMap<string, readonly [KindRef, Resource]>;

async function inside(): Promise<Inside> {
  const found = new Map<string, readonly [KindRef, Resource]>();
  for (const kind of insideKinds) {
    const { items } = await admin.list<Resource>(kind, selectionInTenant(kind));
    for (const item of items) {
      const { namespace = '', name } = item.metadata;
      found.set(`${kind.kind} ${namespace}/${name}`, [kind, item]);
    }
  }
  return found;
}

const keyOf = ({ metadata: { name, namespace } }: Resource): { name: string; namespace?: string } => ({
  name,
  namespace,
});

/** An edit of a field that Steward applies; fields that others add stay theirs with server-side apply. */
function damage(object: Resource & { readonly data?: Readonly<Record<string, string>> }): unknown {
  const workload = { spec: { template: { spec: { serviceAccountName: 'spoiled' } } } };
  const damages: Readonly<Record<string, unknown>> = {
    ConfigMap: { data: Object.fromEntries(Object.keys(object.data ?? {}).map((name) => [name, 'spoiled'])) },
    Role: { rules: [] },
    ClusterRole: { rules: [] },
    RoleBinding: { subjects: [] },
    ClusterRoleBinding: { subjects: [] },
    ServiceAccount: { metadata: { annotations: { [labels.owner]: 'somebody' } } },
    Service: { spec: { selector: { 'k8s-app': 'spoiled' } } },
    Deployment: workload,
    DaemonSet: workload,
    Endpoints: { subsets: [] },
    EndpointSlice: { endpoints: [] },
  };
  return damages[object.kind];
}

const contents = (all: Inside): unknown =>
  Object.fromEntries(
    [...all].map(([name, [, { metadata, ...rest }]]) => {
      // A Corefile belongs to the administrators, and a status to its controller.
      const content = name === 'ConfigMap kube-system/coredns' ? {} : { ...rest, status: undefined };
      return [name, { ...content, labels: metadata.labels, owner: metadata.annotations?.[labels.owner] }];
    }),
  );

/** A client of the API server that records what is applied through it. */
function countingClient(applied: string[]): Cluster {
  const client = openCluster(parseKubeconfig(server.kubeconfig), { name: 'tenant' });
  const apply = client.apply.bind(client);
  client.apply = (kind, manifest, options) => {
    applied.push(`${kind.kind} ${manifest.metadata.name}`);
    return apply(kind, manifest, options);
  };
  return client;
}

/** Reconciles as often as requested since there were `answered` notifications, until `isDone`; returns how often. */
async function reconcilesUntil(world: TenantWorld, answered: number, isDone: () => Promise<boolean>): Promise<number> {
  let reconciles = 0;
  for (let seen = answered; !(await isDone()); reconciles += 1) {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    world.onEnqueue = () => {
      resolve(undefined);
    };
    if (world.enqueued === seen) await promise;
    // A request during a reconcile causes another one.
    seen = world.enqueued;
    await world.settle();
  }
  return reconciles;
}

describe('A real API server of a tenant', () => {
  test('has deleted and edited objects restored within seconds, and gets no requests otherwise', async () => {
    const applied: string[] = [];
    const world = new TenantWorld({ openTenant: () => countingClient(applied), watches: () => watches });
    await world.create({ spec: { addons } });
    await world.settle();
    const uid = (await world.read()).metadata.uid;
    await until(() => watches.isComplete(uid));
    const before = await inside();
    expect(before.size).toBeGreaterThan(20);
    expect(world.enqueued).toBe(0);

    const began = Date.now();
    const all = [...before.values()];
    await Promise.all(all.map(([kind, object]) => admin.delete(kind, keyOf(object))));
    const reconciles = await reconcilesUntil(world, 0, async () => (await inside()).size === before.size);
    const deletedMs = Date.now() - began;
    expect(reconciles).toBeLessThanOrEqual(3);
    expect(contents(await inside())).toEqual(contents(before));

    const edited = Date.now();
    const settled = world.enqueued;
    for (const [kind, object] of all) {
      const name = keyOf(object);
      if (object.kind === 'ConfigMap' && name.name === 'coredns') continue;
      const body = damage(object);
      expect([object.kind, body]).not.toEqual([object.kind, undefined]);
      await admin.patch(kind, name, { type: 'merge', body });
    }
    expect(contents(await inside())).not.toEqual(contents(before));
    const wanted = JSON.stringify(contents(before));
    const more = await reconcilesUntil(world, settled, async () => JSON.stringify(contents(await inside())) === wanted);
    const editedMs = Date.now() - edited;
    expect(more).toBeLessThanOrEqual(3);
    process.stdout.write(
      `${before.size} objects: deleted and back in ${deletedMs} ms (${reconciles} reconciles), edited and back in ${editedMs} ms (${more} reconciles)\n`,
    );

    // Neither what the tenant's controllers write of a Deployment nor our own writes are edits: only what was edited is applied again.
    await world.change({ spec: { addons: { coreDNS: { imageTag: 'v1.99.0' } } } });
    await world.settle();
    const key = { namespace: 'kube-system', name: 'coredns' };
    const body = { status: { observedGeneration: 3, replicas: 1, unavailableReplicas: 1 } };
    await admin.patch(kinds.Deployment, key, { type: 'merge', body }, { subresource: 'status' });
    applied.splice(0);
    const asked = world.enqueued;
    const proxy = { namespace: 'kube-system', name: 'kube-proxy' };
    await admin.patch(kinds.ConfigMap, proxy, { type: 'merge', body: { data: { 'config.conf': 'spoiled' } } });
    const isWhole = async (): Promise<boolean> =>
      (await admin.get(kinds.ConfigMap, proxy))?.data?.['config.conf'] !== 'spoiled';
    expect(await reconcilesUntil(world, asked, isWhole)).toBe(1);
    expect(applied).toContain('DaemonSet kube-proxy');
    expect(applied).not.toContain('Deployment coredns');
  }, 60_000);

  test.each([
    ['which keeps the endpoints of the Service kubernetes', addons],
    ['whose tcp-proxy keeps the endpoints of the Service kubernetes', { ...addons, tcpProxy: {} }],
  ])(
    'gets no write from a manager that starts again, but those that revert changes: %s',
    async (_words, chosen) => {
      const applied: string[] = [];
      const world = new TenantWorld({ openTenant: () => countingClient(applied) });
      await world.create({ spec: { addons: chosen } });
      await world.settle();
      expect(applied.length).toBeGreaterThan(20);
      const before = await inside();
      applied.splice(0);
      world.restart();
      await world.settle();
      expect(applied).toEqual([]);
      for (const [, [kind, object]] of before) {
        // Neither the Corefile nor the endpoints that others keep are ours.
        if (object.kind === 'ConfigMap' && object.metadata.name === 'coredns') continue;
        if ('tcpProxy' in chosen && endpointKinds.includes(kind)) continue;
        await admin.patch(kind, keyOf(object), { type: 'merge', body: damage(object) });
      }
      world.restart();
      await world.settle();
      expect(contents(await inside())).toEqual(contents(before));
    },
    60_000,
  );

  test('denies writes again when an administrator adds to the policy that has no effect then', async () => {
    const world = new TenantWorld({ openTenant: () => countingClient([]), watches: () => watches });
    await world.create({ spec: { writePermissions: { blockCreation: true } } });
    await world.settle();
    const uid = (await world.read()).metadata.uid;
    await until(() => watches.isComplete(uid));
    const [policyKind, bindingKind] = [kinds.ValidatingAdmissionPolicy, kinds.ValidatingAdmissionPolicyBinding];
    const specs = async (): Promise<string> =>
      JSON.stringify([(await admin.get(policyKind, limited))?.spec, (await admin.get(bindingKind, limited))?.spec]);
    const wanted = await specs();
    const few = { matchLabels: { denied: 'true' } };
    const addedToPolicy = {
      matchConditions: [{ name: 'never', expression: 'false' }],
      matchConstraints: { namespaceSelector: few, objectSelector: few },
      variables: [{ name: 'costly', expression: '1' }],
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    };
    const addedToBinding = {
      matchResources: { namespaceSelector: few, excludeResourceRules: [everything] },
      validationActions: ['Audit'],
    };
    const additions: readonly (readonly [KindRef, object])[] = [
      [policyKind, addedToPolicy],
      [bindingKind, addedToBinding],
    ];
    for (const [kind, spec] of additions) {
      const answered = world.enqueued;
      await admin.patch(kind, limited, { type: 'merge', body: { spec } }, { fieldManager: 'administrator' });
      expect(await specs()).not.toBe(wanted);
      await reconcilesUntil(world, answered, async () => (await specs()) === wanted);
    }
    const denied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'denied', namespace: 'default' } };
    const attempt = (): Promise<string> =>
      admin.create(kinds.ConfigMap, denied, { dryRun: true }).then(() => 'created', String);
    const isDenied = async (): Promise<boolean> =>
      (await attempt()).includes(`ValidatingAdmissionPolicy '${writePermissionsPolicy}'`);
    await until(isDenied);
    await admin.delete(bindingKind, limited);
    await admin.delete(policyKind, limited);
    await until(async () => !(await isDenied()));
  }, 120_000);

  test('is watched with fifty tenants, over one connection each', async () => {
    const many = newWatches();
    const manifest = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'many', namespace: 'default', labels: { [labels.component]: 'many' } },
    };
    const applied = await admin.apply<Resource>(kinds.ConfigMap, manifest, { fieldManager: 'steward' });
    const rang = new Set<string>();
    const connection = parseKubeconfig(server.kubeconfig);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const uids = Array.from({ length: 50 }, (_, index) => `tenant-${index}`);
    for (const uid of uids) {
      const notify = (): void => {
        if (rang.add(uid).size === uids.length) resolve(undefined);
      };
      many.applying(uid, 'many', { connection, notify });
      const presence = {
        component: 'many',
        manifests: [manifest],
        applied: [applied],
        createOnly: [],
        kindOf: () => kinds.ConfigMap,
      };
      many.applied(uid, presence, connection);
    }
    await until(() => uids.every((uid) => many.isComplete(uid)));
    await admin.delete(kinds.ConfigMap, { namespace: 'default', name: 'many' });
    await promise;
    expect(rang.size).toBe(50);
    many.close();
  }, 60_000);
});
