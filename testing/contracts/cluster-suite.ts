import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds, type ConfigMap, type Secret, type Service } from '../../api/core/kinds.ts';
import { apiVersionOf, type Key, type KindRef, type Manifest, type Resource } from '../../api/meta.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { applyDefaults } from '../../api/structural/apply-defaults.ts';
import type { Cluster, WatchEvent } from '../../runtime/client/cluster.ts';
import { describeLimits } from './cluster-limits-suite.ts';
import { configMap, sampleDeployment } from './cluster-under-test.ts';
import type { At, ClusterUnderTest, Make } from './cluster-under-test.ts';
import { refusal } from '../servers/refusal.ts';

const fieldManager = 'suite';

/** Reads a watch until `enough` says so, and ends it. */
export async function eventsUntil<T extends Resource>(
  cluster: Cluster,
  kind: KindRef<T>,
  options: {
    readonly namespace?: string;
    readonly labelSelector?: string;
    readonly metadataOnly?: boolean;
    readonly resourceVersion?: string;
  },
  enough: (events: readonly WatchEvent<T>[]) => boolean,
): Promise<readonly WatchEvent<T>[]> {
  const seen: WatchEvent<T>[] = [];
  const stop = new AbortController();
  for await (const event of cluster.watch(kind, { ...options, signal: stop.signal })) {
    if (event.type !== 'BOOKMARK') seen.push(event);
    if (enough(seen)) break;
  }
  stop.abort();
  return seen;
}

/** `ADDED a`, `SYNC`, … */
export const briefly = (events: readonly WatchEvent<Resource>[]): readonly string[] =>
  events.map((event) => ('object' in event ? `${event.type} ${event.object.metadata.name}` : event.type));

/** The behavior every `Cluster` has, a real server's and the fake's alike. */
export function describeCluster(name: string, open: () => Promise<ClusterUnderTest>): void {
  describe(name, () => {
    let under: ClusterUnderTest;
    beforeAll(async () => {
      under = await open();
    });
    afterAll(async () => {
      await under.close();
    });
    const at = (key: string): Key => ({ namespace: under.namespace, name: key });
    const make: Make = (key, more) => under.cluster.create(kinds.ConfigMap, configMap(under.namespace, key, more));

    describeReads(() => under, make, at);
    describeBuiltIns(() => under, at);
    describeOurKinds(() => under, at);
    describeWrites(() => under, make, at);
    describeApply(() => under, at);
    describeDeletes(() => under, make, at);
    describeWatches(() => under, make, at);
    describeLimits(() => under, make, at);
  });
}

function describeReads(under: () => ClusterUnderTest, make: Make, at: At): void {
  test('an absent object is undefined; an absent kind is empty for get and delete and a 404 otherwise', async () => {
    const { cluster, namespace } = under();
    expect(await cluster.get(kinds.ConfigMap, at('absent'))).toBeUndefined();
    const widgets = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };
    expect(await cluster.get(widgets, at('absent'))).toBeUndefined();
    expect(await cluster.delete(widgets, at('absent'))).toBe(false);
    expect((await refusal(cluster.list(widgets, { namespace }))).code).toBe(404);
    const stop = new AbortController();
    const watching = cluster.watch(widgets, { namespace, signal: stop.signal });
    expect((await refusal(watching[Symbol.asyncIterator]().next())).code).toBe(404);
  });

  test('a created object is read back with its type, uid and version', async () => {
    const made = await make('read', { data: { a: '1' } });
    const read = await under().cluster.get(kinds.ConfigMap, at('read'));
    expect(read).toEqual(made);
    expect(read).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } });
    expect(typeof read?.metadata.uid).toBe('string');
    expect(Number(read?.metadata.resourceVersion)).toBeGreaterThan(0);
  });

  test('a list comes in pages on request, each with the start of the next', async () => {
    const { cluster, namespace } = under();
    for (const name of ['page-a', 'page-b', 'page-c', 'page-d'])
      await make(name, { metadata: { labels: { suite: 'page' } } });
    const seen: (string | undefined)[] = [];
    let from: string | undefined;
    let pages = 0;
    do {
      const page = { limit: 2, from };
      const found = await cluster.list(kinds.ConfigMap, { namespace, labelSelector: 'suite=page', page });
      expect(found.items.length).toBeLessThanOrEqual(2);
      seen.push(...found.items.map(({ metadata }) => metadata.name));
      from = found.next;
      pages += 1;
    } while (from !== undefined && pages < 9);
    expect(seen).toEqual(['page-a', 'page-b', 'page-c', 'page-d']);
  });

  test('a list is restricted by label and field selectors, and its items carry their type', async () => {
    const { cluster, namespace } = under();
    for (const [name, tier] of [
      ['list-a', 'x'],
      ['list-b', 'y'],
      ['list-c', 'x'],
    ] as const) {
      await make(name, { metadata: { labels: { suite: 'list', tier } } });
    }
    const names = async (options: { labelSelector: string; fieldSelector?: string }): Promise<readonly unknown[]> =>
      (await cluster.list(kinds.ConfigMap, { namespace, ...options })).items.map((item) => item.metadata.name);
    expect(await names({ labelSelector: 'suite=list,tier=x' })).toEqual(['list-a', 'list-c']);
    expect(await names({ labelSelector: 'suite=list,tier!=x' })).toEqual(['list-b']);
    expect(await names({ labelSelector: 'suite in (list),tier notin (y)' })).toEqual(['list-a', 'list-c']);
    expect(await names({ labelSelector: 'suite=list,!tier' })).toEqual([]);
    expect(await names({ labelSelector: 'suite=list', fieldSelector: 'metadata.name=list-b' })).toEqual(['list-b']);
    const { items } = await cluster.list(kinds.ConfigMap, { namespace, labelSelector: 'suite=list' });
    expect(items.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual(Array(3).fill('v1 ConfigMap'));
  });

  test('a metadata-only read has no data, but the type of the kind', async () => {
    const { cluster, namespace } = under();
    const secret: Manifest = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'meta', namespace, labels: { suite: 'meta' } },
      data: { a: 'Yg==' },
    };
    await cluster.create<Secret>(kinds.Secret, secret);
    const { items } = await cluster.list(kinds.Secret, { namespace, labelSelector: 'suite=meta', metadataOnly: true });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'meta' } });
    expect(items[0]).not.toHaveProperty('data');
  });

  test('a key without the namespace that its kind needs is an error of the caller', async () => {
    await expect(under().cluster.get(kinds.ConfigMap, { name: 'x' })).rejects.toThrow(TypeError);
  });

  test('the server version is text; an unknown path is a 404', async () => {
    const { cluster } = under();
    expect(JSON.parse(await cluster.text('/version'))).toHaveProperty('gitVersion');
    expect((await refusal(cluster.text('/no-such-path'))).code).toBe(404);
    expect(cluster.lastContact()).toBeGreaterThan(0);
  });
}

function describeWrites(under: () => ClusterUnderTest, make: Make, at: At): void {
  test('a second creation is refused as AlreadyExists', async () => {
    await make('twice');
    expect(await refusal(make('twice'))).toMatchObject({ code: 409, reason: 'AlreadyExists' });
  });

  test('a name that Kubernetes does not allow is refused as Invalid', async () => {
    expect(await refusal(make('Not_A_Name'))).toMatchObject({ code: 422, reason: 'Invalid' });
  });

  test('a label value of more than 63 characters is refused as Invalid', async () => {
    const labels = { long: 'a'.repeat(64) };
    expect(await refusal(make('long-label', { metadata: { labels } }))).toMatchObject({ code: 422 });
  });

  test('a merge patch changes what it contains and removes fields that are null', async () => {
    await make('merge', { data: { a: '1', b: '2' } });
    const { cluster } = under();
    const patched = await cluster.patch(kinds.ConfigMap, at('merge'), {
      type: 'merge',
      body: { data: { a: null, c: '3' } },
    });
    expect(patched.data).toEqual({ b: '2', c: '3' });
  });

  test('a patch that changes nothing keeps the version', async () => {
    const made = await make('same', { data: { a: '1' } });
    const same = await under().cluster.patch(kinds.ConfigMap, at('same'), {
      type: 'merge',
      body: { data: { a: '1' } },
    });
    expect(same.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  test('a patch that names an old version is a conflict, and one of an absent object a 404', async () => {
    const { cluster } = under();
    const made = await make('conflict');
    await cluster.patch(kinds.ConfigMap, at('conflict'), { type: 'merge', body: { data: { a: '1' } } });
    const body = { metadata: { resourceVersion: made.metadata.resourceVersion }, data: { a: '2' } };
    const stale = cluster.patch(kinds.ConfigMap, at('conflict'), { type: 'merge', body });
    expect(await refusal(stale)).toMatchObject({ code: 409, reason: 'Conflict' });
    const absent = cluster.patch(kinds.ConfigMap, at('gone'), { type: 'merge', body: {} });
    expect(await refusal(absent)).toMatchObject({ code: 404, reason: 'NotFound' });
  });

  test('a JSON patch applies in order, and a failed test changes nothing', async () => {
    const { cluster } = under();
    await make('json', { data: { a: '1' } });
    const body = [
      { op: 'add', path: '/data/b', value: '2' },
      { op: 'remove', path: '/data/a' },
    ];
    expect((await cluster.patch(kinds.ConfigMap, at('json'), { type: 'json', body })).data).toEqual({ b: '2' });
    const failing = [
      { op: 'test', path: '/data/b', value: 'no' },
      { op: 'remove', path: '/data/b' },
    ];
    expect((await refusal(cluster.patch(kinds.ConfigMap, at('json'), { type: 'json', body: failing }))).code).toBe(422);
    expect((await cluster.get(kinds.ConfigMap, at('json')))?.data).toEqual({ b: '2' });
  });

  test('a dry run returns the result and stores nothing', async () => {
    const { cluster, namespace } = under();
    const made = await cluster.create<ConfigMap>(kinds.ConfigMap, configMap(namespace, 'dry'), { dryRun: true });
    expect(made.metadata.name).toBe('dry');
    expect(await cluster.get(kinds.ConfigMap, at('dry'))).toBeUndefined();
  });

  test('the spec changes the generation, status and metadata do not, and each path writes only its part', async () => {
    const { cluster, namespace } = under();
    const deployment = sampleDeployment(namespace, 'parts');
    const made = await cluster.create(kinds.Deployment, { ...deployment, status: { replicas: 7 } });
    expect(made.metadata.generation).toBe(1);
    expect(made.status?.replicas).toBeUndefined();
    const merge = (
      body: unknown,
      subresource?: 'status',
    ): Promise<{ generation?: number; replicas?: number; ready?: number }> =>
      cluster
        .patch(kinds.Deployment, at('parts'), { type: 'merge', body }, { subresource })
        .then(({ metadata, spec, status }) => ({
          generation: metadata.generation,
          replicas: spec?.replicas,
          ready: status?.replicas,
        }));
    expect(await merge({ spec: { replicas: 2 }, status: { replicas: 9 } })).toEqual({ generation: 2, replicas: 2 });
    expect(await merge({ spec: { replicas: 5 }, status: { replicas: 3 } }, 'status')).toEqual({
      generation: 2,
      replicas: 2,
      ready: 3,
    });
    expect(await merge({ metadata: { labels: { a: 'b' } } })).toEqual({ generation: 2, replicas: 2, ready: 3 });
  });
}

function describeApply(under: () => ClusterUnderTest, at: At): void {
  test('apply reports a creation, changes nothing the second time, and removes fields that it no longer contains', async () => {
    const { cluster, namespace } = under();
    let made = 0;
    const onCreated = (): void => {
      made += 1;
    };
    const apply = (data: Record<string, string>): Promise<ConfigMap> =>
      cluster.apply(kinds.ConfigMap, configMap(namespace, 'applied', { data }), { fieldManager, onCreated });
    const first = await apply({ a: '1', b: '2' });
    expect(made).toBe(1);
    const again = await apply({ a: '1', b: '2' });
    expect(made).toBe(1);
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect((await apply({ a: '1' })).data).toEqual({ a: '1' });
  });

  test('apply does not change fields of others and reverts its own', async () => {
    const { cluster, namespace } = under();
    const mine = configMap(namespace, 'shared', { data: { mine: '1' }, metadata: { labels: { mine: 'yes' } } });
    await cluster.apply(kinds.ConfigMap, mine, { fieldManager });
    const body = { data: { mine: 'changed', theirs: '2' }, metadata: { annotations: { theirs: 'yes' } } };
    await cluster.patch(kinds.ConfigMap, at('shared'), { type: 'merge', body }, { fieldManager: 'other' });
    const after = await cluster.apply<ConfigMap>(kinds.ConfigMap, mine, { fieldManager });
    expect(after.data).toEqual({ mine: '1', theirs: '2' });
    expect(after.metadata.annotations).toEqual({ theirs: 'yes' });
  });

  test('containers, their ports and their environment are merged by their keys', async () => {
    const { cluster, namespace } = under();
    const container = (name: string, env: readonly string[]): unknown => ({
      name,
      image: 'example.com/a:1',
      env: env.map((key) => ({ name: key, value: 'x' })),
      ports: [{ name: `p-${name}`, containerPort: name === 'a' ? 80 : 81 }],
    });
    const withContainers = (...containers: unknown[]): Manifest => {
      const base = sampleDeployment(namespace, 'lists');
      const labels = { app: 'lists' };
      return {
        ...base,
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
      };
    };
    const apply = (manager: string, ...containers: unknown[]): Promise<readonly string[]> =>
      cluster
        .apply(kinds.Deployment, withContainers(...containers), { fieldManager: manager })
        .then((deployment) =>
          (deployment.spec?.template.spec?.containers ?? []).map(
            ({ name, env, ports }) =>
              `${name}: ${(env ?? []).map((e) => e.name).join()} ${(ports ?? []).map((p) => p.containerPort).join()}`,
          ),
        );
    expect(await apply(fieldManager, container('a', ['X', 'Y']), container('b', []))).toEqual(['a: X,Y 80', 'b:  81']);
    expect(await apply('other', container('a', ['Z']))).toEqual(['a: X,Y,Z 80', 'b:  81']);
    expect(await apply(fieldManager, container('a', ['Y']))).toEqual(['a: Y,Z 80']);
  });

  test('two managers each keep their finalizer and owner reference', async () => {
    const { cluster, namespace } = under();
    const owner = await cluster.create<ConfigMap>(kinds.ConfigMap, configMap(namespace, 'owner'));
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid };
    const apply = (manager: string, finalizers: readonly string[], owned: boolean): Promise<ConfigMap> =>
      cluster.apply(
        kinds.ConfigMap,
        configMap(namespace, 'finalized', {
          metadata: { finalizers, ...(owned ? { ownerReferences: [reference] } : {}) },
        }),
        { fieldManager: manager },
      );
    await apply(fieldManager, ['example.com/one'], true);
    const both = await apply('other', ['example.com/two'], false);
    expect([...(both.metadata.finalizers ?? [])].sort()).toEqual(['example.com/one', 'example.com/two']);
    expect(both.metadata.ownerReferences).toHaveLength(1);
    const one = await apply(fieldManager, [], false);
    expect(one.metadata.finalizers).toEqual(['example.com/two']);
    expect(one.metadata.ownerReferences ?? []).toEqual([]);
    await cluster.patch(kinds.ConfigMap, at('finalized'), { type: 'merge', body: { metadata: { finalizers: null } } });
  });

  test('apply of a second controller is refused where another manager set the first, and replaces our own', async () => {
    const { cluster, namespace } = under();
    const controlledBy = (name: string) => ({
      ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Owner', name, uid: `uid-${name}`, controller: true }],
    });
    const ownersOf = ({ metadata }: Resource): readonly unknown[] =>
      (metadata.ownerReferences ?? []).map(({ name }) => name);
    const tried = async (kind: KindRef, manifest: (name: string) => Manifest): Promise<void> => {
      await cluster.apply(kind, manifest('one'), { fieldManager: 'another' });
      const why = await refusal(cluster.apply(kind, manifest('two'), { fieldManager }));
      expect(why).toMatchObject({ code: 422 });
      expect(why.message).toContain('Only one reference can have Controller set to true');
      const again = await cluster.apply(kind, manifest('three'), { fieldManager: 'another' });
      expect(ownersOf(again)).toEqual(['three']);
    };
    await tried(kinds.ConfigMap, (name) => configMap(namespace, 'controlled', { metadata: controlledBy(name) }));
    await tried(kinds.Service, (name) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace, name: 'controlled', ...controlledBy(name) },
      spec: { ports: [{ port: 80 }] },
    }));
  });

  test('apply with the uid of another object is a conflict', async () => {
    const { cluster, namespace } = under();
    const wrong = configMap(namespace, 'uid', { metadata: { uid: '00000000-0000-4000-8000-000000000000' } });
    expect((await refusal(cluster.apply(kinds.ConfigMap, wrong, { fieldManager }))).code).toBe(409);
  });

  test('conditions of two managers are merged in the status', async () => {
    const { cluster, namespace } = under();
    await cluster.apply(kinds.Deployment, sampleDeployment(namespace, 'status'), { fieldManager });
    const apply = (manager: string, type: string): Promise<readonly string[]> => {
      const condition = { type, status: 'True', reason: 'Because', message: '' };
      const status = { conditions: [condition] };
      const manifest: Manifest = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'status', namespace },
        status,
      };
      return cluster
        .apply(kinds.Deployment, manifest, { fieldManager: manager, subresource: 'status' })
        .then((deployment) => (deployment.status?.conditions ?? []).map((one) => one.type));
    };
    expect(await apply(fieldManager, 'Available')).toEqual(['Available']);
    expect([...(await apply('other', 'Progressing'))].sort()).toEqual(['Available', 'Progressing']);
  });
}

function describeBuiltIns(under: () => ClusterUnderTest, at: At): void {
  test('stringData of a Secret becomes data, and its type is Opaque', async () => {
    const { cluster, namespace } = under();
    const manifest = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'plain', namespace },
      stringData: { a: 'b' },
    };
    const made = await cluster.apply<Secret>(kinds.Secret, manifest, { fieldManager });
    expect(made).toMatchObject({ type: 'Opaque', data: { a: 'Yg==' } });
    expect(made).not.toHaveProperty('stringData');
  });

  test('the type of a Secret cannot be changed, also by an apply that does not name it', async () => {
    const { cluster, namespace } = under();
    const metadata = { name: 'typed', namespace };
    const apply = (body: object): Promise<Secret> =>
      cluster.apply<Secret>(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, ...body }, { fieldManager });
    await apply({ type: 'example.com/one' });
    await expect(apply({ type: 'example.com/two' })).rejects.toMatchObject({ code: 422 });
    const labeled = { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, labels: { a: 'b' } } };
    const after = await cluster.apply<Secret>(kinds.Secret, labeled, { fieldManager: 'another' });
    expect(after).toMatchObject({ type: 'example.com/one', metadata: { labels: { a: 'b' } } });
  });

  test('a Service gets an address, which an apply without it keeps', async () => {
    const { cluster, namespace } = under();
    const apply = (port: number): Promise<Service> =>
      cluster.apply(
        kinds.Service,
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'service', namespace },
          spec: { selector: { app: 'a' }, ports: [{ name: 'a', port }] },
        },
        { fieldManager },
      );
    const first = await apply(80);
    expect(first.spec?.clusterIP).toMatch(/^10\.96\./);
    const second = await apply(81);
    expect(second.spec?.clusterIP).toBe(first.spec?.clusterIP);
    expect(second.spec?.ports).toEqual([{ name: 'a', port: 81, protocol: 'TCP', targetPort: expect.any(Number) }]);
    expect(second.spec).toMatchObject({ type: 'ClusterIP', selector: { app: 'a' } });
  });

  test('a deleted object is reported with its last state and a later version', async () => {
    const { cluster, namespace } = under();
    const labels = { suite: 'last' };
    const made = await cluster.create<ConfigMap>(
      kinds.ConfigMap,
      configMap(namespace, 'last', { data: { a: '1' }, metadata: { labels } }),
    );
    let deleted: Promise<unknown> | undefined;
    const events = await eventsUntil(cluster, kinds.ConfigMap, { namespace, labelSelector: 'suite=last' }, (seen) => {
      if (seen.at(-1)?.type === 'SYNC') deleted = cluster.delete(kinds.ConfigMap, at('last'));
      return seen.at(-1)?.type === 'DELETED';
    });
    await deleted;
    const last = events.at(-1);
    expect(last).toMatchObject({ object: { data: { a: '1' }, metadata: { uid: made.metadata.uid } } });
    const version = last !== undefined && 'object' in last ? last.object.metadata.resourceVersion : '0';
    expect(Number(version)).toBeGreaterThan(Number(made.metadata.resourceVersion));
  });
}

function describeOurKinds(under: () => ClusterUnderTest, at: At): void {
  const manifest = (name: string, spec: unknown, status?: unknown): Manifest => ({
    apiVersion: apiVersionOf(tenantControlPlane),
    kind: tenantControlPlane.kind,
    metadata: { name, namespace: under().namespace },
    spec,
    status,
  });
  const small = { controlPlane: { service: { serviceType: 'ClusterIP' } }, kubernetes: { version: 'v1.36.3' } };

  test('an object of Steward is stored with its defaults and without fields that its schema does not know', async () => {
    const created = await under().cluster.create(tenantControlPlane, manifest('small', { ...small, unknown: true }));
    expect(created.spec).toEqual(applyDefaults(tenantControlPlane.spec.openapi, small));
    expect(created.metadata.generation).toBe(1);
  });

  test('an object of Steward that its schema refuses is refused with the field', async () => {
    const wrong = { ...small, kubernetes: { version: 36 } };
    const error = await refusal(under().cluster.create(tenantControlPlane, manifest('wrong', wrong)));
    expect(error).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: expect.stringContaining('spec.kubernetes.version'),
    });
    expect((await refusal(under().cluster.create(tenantControlPlane, manifest('empty', undefined)))).code).toBe(422);
  });

  test('the status of an object of Steward is written separately and does not change the generation', async () => {
    const { cluster } = under();
    await cluster.create(tenantControlPlane, manifest('status-of-ours', small, { kubernetesResources: {} }));
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Because',
      message: '',
      lastTransitionTime: '2030-01-01T00:00:00Z',
    };
    const body = { status: { conditions: [condition] }, spec: { kubernetes: { version: 'v1.0.0' } } };
    const patch = { type: 'merge', body } as const;
    const after = await cluster.patch(tenantControlPlane, at('status-of-ours'), patch, { subresource: 'status' });
    expect(after.metadata.generation).toBe(1);
    expect(after.spec.kubernetes.version).toBe('v1.36.3');
    expect(after.status).toEqual(applyDefaults(tenantControlPlane.status?.openapi ?? {}, { conditions: [condition] }));
  });
}

function describeDeletes(under: () => ClusterUnderTest, make: Make, at: At): void {
  test('a deletion returns true once, and false for what is absent or has another uid', async () => {
    const { cluster } = under();
    const made = await make('deleted');
    expect(await cluster.delete(kinds.ConfigMap, at('deleted'), { uid: '00000000-0000-4000-8000-000000000000' })).toBe(
      false,
    );
    expect(await cluster.delete(kinds.ConfigMap, at('deleted'), { uid: made.metadata.uid })).toBe(true);
    expect(await cluster.delete(kinds.ConfigMap, at('deleted'))).toBe(false);
  });

  test('a deletion that names an old version is a conflict', async () => {
    const { cluster } = under();
    const made = await make('stale');
    await cluster.patch(kinds.ConfigMap, at('stale'), { type: 'merge', body: { data: { a: '1' } } });
    const stale = cluster.delete(kinds.ConfigMap, at('stale'), {
      resourceVersion: made.metadata.resourceVersion,
    });
    expect((await refusal(stale)).code).toBe(409);
  });

  test('finalizers hold an object until the last is removed', async () => {
    const { cluster } = under();
    await make('held', { metadata: { finalizers: ['example.com/one', 'example.com/two'] } });
    expect(await cluster.delete(kinds.ConfigMap, at('held'))).toBe(true);
    const held = await cluster.get(kinds.ConfigMap, at('held'));
    expect(held?.metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const keep = (finalizers: readonly string[]): Promise<ConfigMap> =>
      cluster.patch(kinds.ConfigMap, at('held'), { type: 'merge', body: { metadata: { finalizers } } });
    await keep(['example.com/two']);
    expect(await cluster.get(kinds.ConfigMap, at('held'))).toBeDefined();
    await keep([]);
    expect(await cluster.get(kinds.ConfigMap, at('held'))).toBeUndefined();
  });
}

function describeWatches(under: () => ClusterUnderTest, make: Make, at: At): void {
  test('a watch streams existing objects, reports that those are all, and continues with changes', async () => {
    const { cluster, namespace } = under();
    const labels = { suite: 'watch' };
    await make('watch-a', { metadata: { labels } });
    await make('watch-b', { metadata: { labels } });
    let changed: Promise<unknown> | undefined;
    const events = await eventsUntil(cluster, kinds.ConfigMap, { namespace, labelSelector: 'suite=watch' }, (seen) => {
      if (seen.at(-1)?.type === 'SYNC') {
        changed = make('watch-c', { metadata: { labels } })
          .then(() => cluster.patch(kinds.ConfigMap, at('watch-a'), { type: 'merge', body: { data: { a: '1' } } }))
          .then(() => cluster.delete(kinds.ConfigMap, at('watch-b')));
      }
      return seen.at(-1)?.type === 'DELETED';
    });
    await changed;
    expect(briefly(events)).toEqual([
      'ADDED watch-a',
      'ADDED watch-b',
      'SYNC',
      'ADDED watch-c',
      'MODIFIED watch-a',
      'DELETED watch-b',
    ]);
  });

  test('an object that leaves the selection is DELETED, one that enters is ADDED', async () => {
    const { cluster, namespace } = under();
    await make('mover', { metadata: { labels: { suite: 'enter' } } });
    const label = (value: string): Promise<ConfigMap> =>
      cluster.patch(kinds.ConfigMap, at('mover'), { type: 'merge', body: { metadata: { labels: { suite: value } } } });
    let moved: Promise<unknown> | undefined;
    const events = await eventsUntil(cluster, kinds.ConfigMap, { namespace, labelSelector: 'suite=enter' }, (seen) => {
      if (seen.at(-1)?.type === 'SYNC') moved = label('left').then(() => label('enter'));
      return seen.length === 4;
    });
    await moved;
    expect(briefly(events)).toEqual(['ADDED mover', 'SYNC', 'DELETED mover', 'ADDED mover']);
  });

  test('a watch continues after a version without repeating it', async () => {
    const { cluster, namespace } = under();
    const labels = { suite: 'continue' };
    await make('first', { metadata: { labels } });
    const { resourceVersion } = await cluster.list(kinds.ConfigMap, { namespace, labelSelector: 'suite=continue' });
    await make('second', { metadata: { labels } });
    const options = { namespace, labelSelector: 'suite=continue', resourceVersion };
    expect(briefly(await eventsUntil(cluster, kinds.ConfigMap, options, (seen) => seen.length === 1))).toEqual([
      'ADDED second',
    ]);
  });

  test('a watch for metadata carries no data', async () => {
    const { cluster, namespace } = under();
    await make('bare', { data: { a: '1' }, metadata: { labels: { suite: 'bare' } } });
    const options = { namespace, labelSelector: 'suite=bare', metadataOnly: true };
    const [event] = await eventsUntil(cluster, kinds.ConfigMap, options, (seen) => seen.at(-1)?.type === 'SYNC');
    expect(event).toMatchObject({
      type: 'ADDED',
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bare' } },
    });
    expect(event).not.toHaveProperty('object.data');
  });

  test('an aborted watch throws the reason of its signal', async () => {
    const { cluster, namespace } = under();
    const stop = new AbortController();
    const reason = new Error('enough');
    const watching = (async () => {
      for await (const event of cluster.watch(kinds.ConfigMap, { namespace, signal: stop.signal })) {
        if (event.type === 'SYNC') stop.abort(reason);
      }
    })();
    await expect(watching).rejects.toBe(reason);
  });
}
