import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { Manifest, Resource } from '../../api/meta.ts';
import { labels } from '../../api/names.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { konnectivityAddon } from '../../testing/builders/konnectivity-addon.ts';
import { workerBootstrapAddon } from '../../testing/builders/worker-bootstrap-addon.ts';
import type { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { settledWorlds } from '../../testing/worlds/settled-worlds.ts';
import { TenantWorld } from '../../testing/worlds/tenant-world.ts';
import { endpointKinds, policyKinds, tenantKinds } from './shared/tenant-kinds.ts';
import { ownedKinds } from './watches.ts';

const addons = {
  coreDNS: {},
  kubeProxy: {},
  konnectivity: konnectivityAddon(),
  workerBootstrap: workerBootstrapAddon({ autoApprove: false }),
};
const writePermissions = { blockCreation: true };

const running = settledWorlds(
  () => new TenantWorld(),
  async (world) => {
    await world.create({ spec: { addons, writePermissions } });
    await world.settle();
  },
);

const reading = ['get', 'list', 'watch', 'text'];

const requests = ({ calls }: FakeCluster, isWanted: (verb: string) => boolean): readonly string[] =>
  calls
    .filter(({ verb }) => isWanted(verb))
    .map(({ verb, kind, namespace = '', name = '' }) => `${verb} ${kind?.kind ?? ''} ${namespace}/${name}`);
const writes = (cluster: FakeCluster): readonly string[] => requests(cluster, (verb) => !reading.includes(verb));

/** One reconcile of a new process, and the requests of that. */
async function restarted(world: TenantWorld): Promise<void> {
  world.restart();
  world.cluster.forgetPast();
  world.tenant.forgetPast();
  await world.reconcile();
}

type Row = readonly [name: string, content: unknown];

async function objects(
  cluster: FakeCluster,
  kindsOf: readonly (typeof tenantKinds)[number][],
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const kind of kindsOf) {
    const { items } = await cluster.admin.list<Resource>(kind).catch(() => ({ items: [] }));
    for (const { metadata, ...content } of items) {
      const { labels: own, annotations, ownerReferences } = metadata;
      Reflect.deleteProperty(content, 'status');
      rows.push([
        `${kind.kind} ${metadata.namespace ?? ''}/${metadata.name}`,
        { content, own, annotations, ownerReferences },
      ]);
    }
  }
  return rows;
}

/** Everything that the manager maintains for a tenant. */
async function maintained({ cluster, tenant }: TenantWorld): Promise<readonly Row[]> {
  const inside = await objects(tenant, [...tenantKinds, ...policyKinds, ...endpointKinds]);
  return [
    ...(await objects(
      cluster,
      ownedKinds.map(({ kind }) => kind),
    )),
    ...inside,
  ];
}

describe('A manager that starts again', () => {
  test('writes nothing to a tenant that needs no write, neither in the management cluster nor inside', async () => {
    const world = await running();
    await restarted(world);
    expect([writes(world.cluster), writes(world.tenant)]).toEqual([[], []]);
    expect(world.tenant.calls.length).toBeGreaterThan(5);
  });

  test('reads each kind inside once, however many add-ons have objects of it', async () => {
    const world = await running();
    await world.change({ spec: { addons: { konnectivity: null, workerBootstrap: null } } });
    await world.settle();
    await restarted(world);
    const lists = requests(world.tenant, (verb) => verb === 'list' || verb === 'get');
    const ofBase = lists.filter((line) => !/ValidatingAdmission|Secret/.test(line));
    expect(new Set(lists).size).toBeGreaterThan(8);
    expect(ofBase.filter((line) => line === 'list ConfigMap /')).toHaveLength(1);
  });

  test('repairs what was changed or deleted while none ran', async () => {
    const world = await running();
    const before = await maintained(world);
    const patch = (data: unknown) => ({ type: 'merge', body: data }) as const;
    const kubeSystem = (name: string) => ({ namespace: 'kube-system', name });
    const own = { namespace: 'default', name: 'tenant' };
    await world.cluster.admin.patch(kinds.Service, own, patch({ metadata: { labels: null } }));
    await world.cluster.admin.patch(kinds.Deployment, own, patch({ spec: { template: { spec: { containers: [] } } } }));
    await world.cluster.admin.delete(kinds.ConfigMap, { ...own, name: 'tenant-kubeadmconfig' });
    await world.tenant.admin.patch(kinds.ConfigMap, kubeSystem('kube-proxy'), patch({ data: { 'config.conf': 'x' } }));
    await world.tenant.admin.patch(kinds.ClusterRole, { name: 'system:coredns' }, patch({ rules: [] }));
    await world.tenant.admin.patch(kinds.Role, kubeSystem('kube-proxy'), patch({ metadata: { annotations: null } }));
    await world.tenant.admin.delete(kinds.DaemonSet, kubeSystem('konnectivity-agent'));
    await world.tenant.admin.patch(
      kinds.EndpointSlice,
      { namespace: 'default', name: 'kubernetes' },
      patch({ ports: [] }),
    );
    const [policy] = policyKinds;
    const condition = [{ name: 'never', expression: 'false' }];
    const name = 'steward-write-permissions';
    await world.tenant.admin.patch(policy ?? kinds.Role, { name }, patch({ spec: { matchConditions: condition } }));
    world.restart();
    await world.settle();
    expect(await maintained(world)).toEqual(before);
  });

  test('creates the Corefile again, and leaves one alone that the administrators have edited', async () => {
    const world = await running();
    const key = { namespace: 'kube-system', name: 'coredns' };
    await world.tenant.admin.patch(kinds.ConfigMap, key, { type: 'merge', body: { data: { Corefile: 'theirs' } } });
    await restarted(world);
    expect(writes(world.tenant)).toEqual([]);
    await world.tenant.admin.delete(kinds.ConfigMap, key);
    await restarted(world);
    expect(writes(world.tenant)).toEqual(['create ConfigMap kube-system/coredns']);
  });

  test('leaves the number of CoreDNS replicas to whoever set it', async () => {
    const world = await running();
    const key = { namespace: 'kube-system', name: 'coredns' };
    await world.tenant.admin.patch(kinds.Deployment, key, { type: 'merge', body: { spec: { replicas: 5 } } });
    await restarted(world);
    expect((await world.tenant.admin.get(kinds.Deployment, key))?.spec?.replicas).toBe(5);
  });

  test('keeps no large list of a tenant, and applies what it would have shown', async () => {
    const world = await running();
    const before = await maintained(world);
    for (let n = 0; n < 5; n += 1) {
      await world.tenant.admin.create(kinds.ConfigMap, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'default', name: `a-${String(n)}`, labels: { [labels.component]: 'theirs' } },
        data: { large: 'x'.repeat(256 * 1024) },
      });
    }
    await restarted(world);
    expect(writes(world.tenant)).toContain('apply ConfigMap kube-system/kubelet-config');
    expect(writes(world.tenant).filter((line) => !line.includes(' ConfigMap '))).toEqual([]);
    for (let n = 0; n < 5; n += 1) {
      await world.tenant.admin.delete(kinds.ConfigMap, { namespace: 'default', name: `a-${String(n)}` });
    }
    expect(await maintained(world)).toEqual(before);
  });

  test('applies what it cannot read inside: more objects than it lists, or lists that are refused', async () => {
    const world = await running();
    const before = await maintained(world);
    const make = (n: number): Manifest => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: `a-${String(n)}`, labels: { [labels.component]: 'theirs' } },
    });
    for (let n = 0; n < 201; n += 1) await world.tenant.admin.create(kinds.ConfigMap, make(n));
    await restarted(world);
    expect(writes(world.tenant)).toContain('apply ConfigMap kube-system/kubelet-config');
    for (let n = 0; n < 201; n += 1) await world.tenant.admin.delete(kinds.ConfigMap, make(n).metadata);
    world.restart();
    world.tenant.forgetPast();
    world.tenant.failNext({ verb: 'list', kind: 'Role' }, new ApiError(500, 'InternalError', 'no'));
    await world.reconcile();
    expect(new Set(writes(world.tenant).map((line) => line.split(' ', 2).join(' ')))).toEqual(new Set(['apply Role']));
    expect(await maintained(world)).toEqual(before);
  });

  test('reads nothing inside a tenant that is new', async () => {
    const world = new TenantWorld();
    await world.create({ spec: { addons: { coreDNS: {}, kubeProxy: {} } } });
    await world.settle();
    expect(requests(world.tenant, (verb) => verb === 'list')).toEqual([]);
  });
});
