import { beforeEach, describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../api/as-stored.ts';
import { ObjectSlot } from '../cache/object-slot.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Key, KindRef, Manifest, Resource } from '../../api/meta.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { Applier, type AppliedSets, type ApplierOptions } from './applier.ts';
import type { Marking } from './apply-marks.ts';
import type { ApplySet } from './apply-set.ts';
import { ApiError, RetryError, TerminalError } from '../client/errors.ts';
import { textOf } from '../cache/object-id.ts';

const componentLabel = 'example.com/component';
const byOwner: Marking = { by: 'ownerReference', componentLabel };
const byAnnotation: Marking = { by: 'annotation', componentLabel, annotation: 'example.com/owner-uid' };
const owner: Resource = {
  apiVersion: 'example.com/v1',
  kind: 'Tenant',
  metadata: storedMeta({ name: 'blue', namespace: 'default', uid: 'uid-blue' }),
};
const configMap = (name: string, data: Record<string, string> = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
});
const set = (manifests: readonly Manifest[], over: Partial<ApplySet> = {}): ApplySet => ({
  owner,
  component: 'settings',
  manifests,
  prunes: [kinds.ConfigMap],
  ...over,
});

let cluster: FakeCluster;
/** A cache that a test fills by hand, so that it can be behind. */
let cache: Map<string, Resource>;
const lookup = (kind: KindRef, key: Key): Resource | undefined => cache.get(`${kind.kind} ${textOf(key)}`);
const fillCache = async (): Promise<void> => {
  for (const kind of [kinds.ConfigMap, kinds.Deployment]) {
    for (const item of (await cluster.admin.list(kind)).items) {
      cache.set(`${kind.kind} ${textOf({ namespace: 'default', name: item.metadata.name })}`, item);
    }
  }
};
const applier = (over: Partial<ApplierOptions> = {}): Applier =>
  new Applier({
    ...{ cluster, fieldManager: 'example', marking: byOwner, kinds: Object.values(kinds) },
    memory: new ObjectSlot(),
    ...over,
  });
const names = async (): Promise<readonly string[]> =>
  (await cluster.admin.list(kinds.ConfigMap)).items.map(({ metadata }) => metadata.name).sort();
const callsOf = (verb: string): number => cluster.calls.filter((call) => call.verb === verb).length;

beforeEach(() => {
  cluster = new FakeCluster({ collectsGarbage: false });
  cache = new Map();
});

describe('Applying a set', () => {
  test('labels the objects with component and owner, and keeps the content of the manifest', async () => {
    const manifest = configMap('a', { x: '1' });
    const labeled = { ...manifest, metadata: { ...manifest.metadata, labels: { own: 'label' } } };
    const { applied } = await applier().apply(set([labeled]));
    expect(applied[0]).toMatchObject({
      metadata: {
        labels: { own: 'label', [componentLabel]: 'settings' },
        ownerReferences: [
          { kind: 'Tenant', name: 'blue', uid: 'uid-blue', controller: true, blockOwnerDeletion: true },
        ],
      },
      data: { x: '1' },
    });
  });

  test('prunes objects that the set no longer contains, and none of another owner, component or user', async () => {
    const engine = applier();
    await engine.apply(set([configMap('a'), configMap('b')]));
    await engine.apply(set([configMap('c')], { component: 'other' }));
    const green = { ...owner, metadata: { ...owner.metadata, name: 'green', uid: 'uid-green' } };
    await engine.apply(set([configMap('d')], { owner: green }));
    await cluster.seed(kinds.ConfigMap, {
      ...configMap('e'),
      metadata: { name: 'e', namespace: 'default', labels: { [componentLabel]: 'settings' } },
    });
    const { pruned } = await engine.apply(set([configMap('a')]));
    expect(pruned.map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(await names()).toEqual(['a', 'c', 'd', 'e']);
  });

  test('neither prunes nor sends an object that the set keeps as it is', async () => {
    await applier().apply(set([configMap('a'), configMap('b')]));
    const { applied, pruned } = await applier().apply(
      set([configMap('a', { x: 'new' })], { kept: [configMap('b', { by: 'others' })] }),
    );
    expect(applied.map(({ metadata }) => metadata.name)).toEqual(['a']);
    expect(pruned).toEqual([]);
    expect((await cluster.admin.get(kinds.ConfigMap, { namespace: 'default', name: 'b' }))?.data).toEqual({});
  });

  test('does not delete an object that was created under the name between list and deletion', async () => {
    await applier().apply(set([configMap('a', { made: 'first' })]));
    const key = { namespace: 'default', name: 'a' };
    const stop = cluster.before(async ({ verb }) => {
      if (verb !== 'delete') return;
      stop();
      await cluster.admin.delete(kinds.ConfigMap, key);
      await cluster.admin.create(kinds.ConfigMap, configMap('a', { made: 'by hand' }));
    });
    // The API server refuses the removal of another object, and the next reconcile sees what is there.
    await applier()
      .apply(set([]))
      .catch((error: unknown) => {
        expect(error).toMatchObject({ code: 409 });
      });
    expect(await cluster.admin.get(kinds.ConfigMap, key)).toMatchObject({ data: { made: 'by hand' } });
  });

  test('does not delete an object a second time while it is being deleted', async () => {
    const held = configMap('a');
    await applier().apply(set([{ ...held, metadata: { ...held.metadata, finalizers: ['example.com/held'] } }]));
    await applier().apply(set([]));
    expect(await applier().apply(set([]))).toMatchObject({ pruned: [] });
    expect(callsOf('delete')).toBe(1);
  });

  test('removes the component if the set is empty, also after a restart', async () => {
    await applier().apply(set([configMap('a'), configMap('b')]));
    await applier().apply(set([]));
    expect(await names()).toEqual([]);
  });

  test('stores the owner in an annotation inside another cluster, across namespaces', async () => {
    const engine = applier({ marking: byAnnotation });
    const elsewhere = { ...configMap('x'), metadata: { name: 'x', namespace: 'kube-system' } };
    const { applied } = await engine.apply(set([elsewhere, configMap('y')]));
    expect(applied[0]?.metadata.ownerReferences).toBeUndefined();
    expect(applied[0]?.metadata.annotations).toEqual({ 'example.com/owner-uid': 'uid-blue' });
    const { pruned } = await engine.apply(set([configMap('y')]));
    expect(pruned.map(({ metadata }) => metadata.namespace)).toEqual(['kube-system']);
  });

  test('prunes nothing if an object was refused, and applies all others', async () => {
    const engine = applier();
    await engine.apply(set([configMap('a'), configMap('b')]));
    cluster.failNext({ verb: 'apply', name: 'c' }, new ApiError(500, 'InternalError', 'no'));
    await expect(engine.apply(set([configMap('c'), configMap('d')]))).rejects.toThrow(
      'applying ConfigMap default/c: no',
    );
    expect(await names()).toEqual(['a', 'b', 'd']);
    await engine.apply(set([configMap('a'), configMap('b')]));
    expect(await names()).toEqual(['a', 'b']);
  });

  test('reports several refusals together', async () => {
    for (const name of ['a', 'b']) cluster.failNext({ verb: 'apply', name }, new ApiError(500, 'InternalError', 'no'));
    const error: unknown = await applier()
      .apply(set([configMap('a'), configMap('b')]))
      .catch((caught: unknown) => caught);
    expect((error as AggregateError).errors).toHaveLength(2);
  });

  test('does not change an object that a user created where it may exist', async () => {
    await cluster.admin.create(kinds.ConfigMap, configMap('a', { x: 'theirs' }));
    const engine = applier({ writtenByHand: new Set(['ConfigMap']) });
    await expect(engine.apply(set([configMap('a', { x: 'ours' })]))).rejects.toThrow(/created by someone else/);
    expect((await cluster.admin.get(kinds.ConfigMap, { namespace: 'default', name: 'a' }))?.data).toEqual({
      x: 'theirs',
    });
    await applier().apply(set([configMap('a', { x: 'ours' })]));
    await engine.apply(set([configMap('a', { x: 'again' })]));
    expect((await cluster.admin.get(kinds.ConfigMap, { namespace: 'default', name: 'a' }))?.data).toEqual({
      x: 'again',
    });
  });

  test('finds nothing to prune of a kind that the server does not know', async () => {
    const ghost: KindRef = { group: 'g.io', version: 'v1', kind: 'Ghost', plural: 'ghosts', namespaced: true };
    cluster = new FakeCluster({ absent: [ghost] });
    await expect(applier().apply(set([], { prunes: [ghost] }))).resolves.toMatchObject({ pruned: [] });
  });

  test.each<[string, ApplySet, string]>([
    ['named twice', set([configMap('a'), configMap('a')]), 'ConfigMap default/a occurs twice in one set'],
    ['of an unknown kind', set([{ ...configMap('a'), kind: 'Ghost' }]), 'a kind that this applier does not know'],
    [
      'in a namespace that its owner cannot reach',
      set([{ ...configMap('a'), metadata: { name: 'a', namespace: 'other' } }]),
      'an owner reference cannot refer to another namespace',
    ],
    [
      'labeled for another component',
      set([{ ...configMap('a'), metadata: { name: 'a', namespace: 'default', labels: { [componentLabel]: 'x' } } }]),
      'remove the label, or give the set the name in the label',
    ],
  ])('refuses a manifest that is %s', async (_, wrong, message) => {
    await expect(applier().apply(wrong)).rejects.toThrow(message);
    expect(await names()).toEqual([]);
  });
});

describe('Applying an unchanged set', () => {
  test('sends no request if neither manifest nor object changed, and no list either', async () => {
    const engine = applier({ lookup });
    await engine.apply(set([configMap('a')]));
    await fillCache();
    const before = cluster.calls.length;
    const nothing = { applied: [], found: [], drifted: [], pruned: [] };
    expect(await engine.apply(set([configMap('a')]))).toEqual({ ...nothing, unchanged: 1 });
    expect(cluster.calls.length).toBe(before);
  });

  test('sends no request while the cache is behind our own write', async () => {
    const engine = applier({ lookup });
    await engine.apply(set([configMap('a', { x: '1' })]));
    await fillCache();
    await engine.apply(set([configMap('a', { x: '2' })]));
    const { unchanged } = await engine.apply(set([configMap('a', { x: '2' })]));
    expect(unchanged).toBe(1);
  });

  test('sends no request if a component is applied in parts, by sets that prune nothing', async () => {
    const engine = applier({ lookup });
    const pieces = ['a', 'b', 'c'].map((name) => set([configMap(name)], { prunes: [] }));
    await Promise.all(pieces.map((piece) => engine.apply(piece)));
    await fillCache();
    const before = cluster.calls.length;
    for (const piece of pieces) expect((await engine.apply(piece)).unchanged).toBe(1);
    expect(cluster.calls.length).toBe(before);
    expect((await engine.apply(set([configMap('a')]))).pruned).toHaveLength(2);
  });

  test('ignores status that other controllers write', async () => {
    const deployment: Manifest = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd', namespace: 'default' },
      spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } } } },
    };
    const engine = applier({ lookup });
    await engine.apply(set([deployment]));
    await cluster.admin.patch(
      kinds.Deployment,
      { namespace: 'default', name: 'd' },
      { type: 'merge', body: { status: { replicas: 1 } } },
      { subresource: 'status' },
    );
    await fillCache();
    expect((await engine.apply(set([deployment]))).unchanged).toBe(1);
    await cluster.admin.patch(
      kinds.Deployment,
      { namespace: 'default', name: 'd' },
      { type: 'merge', body: { metadata: { labels: { [componentLabel]: null } } } },
    );
    await fillCache();
    expect((await engine.apply(set([deployment]))).drifted).toHaveLength(1);
  });

  test('reverts changes by others and counts them as drift', async () => {
    const counted: string[] = [];
    const metrics = {
      applied: () => undefined,
      unchanged: () => undefined,
      pruned: () => undefined,
      drifted: (component: string, kind: string) => counted.push(`${component} ${kind}`),
    };
    const engine = applier({ lookup, metrics });
    await engine.apply(set([configMap('a', { x: '1' })]));
    await cluster.admin.patch(
      kinds.ConfigMap,
      { namespace: 'default', name: 'a' },
      { type: 'merge', body: { data: { x: 'changed' } } },
    );
    await fillCache();
    const { drifted } = await engine.apply(set([configMap('a', { x: '1' })]));
    expect(drifted[0]).toMatchObject({ data: { x: '1' } });
    expect(counted).toEqual(['settings ConfigMap']);
  });

  test('does not count changes of fields that Steward does not set', async () => {
    const engine = applier({ lookup });
    await engine.apply(set([configMap('a', { x: '1' })]));
    await cluster.admin.patch(
      kinds.ConfigMap,
      { namespace: 'default', name: 'a' },
      { type: 'merge', body: { data: { theirs: 'y' } } },
    );
    await fillCache();
    const { applied, drifted } = await engine.apply(set([configMap('a', { x: '1' })]));
    expect([applied.length, drifted.length]).toEqual([1, 0]);
  });

  test('applies the previous manifest again if the answer to another one was lost', async () => {
    const engine = applier({ lookup });
    await engine.apply(set([configMap('a', { x: 'before' })]));
    await fillCache();
    const stop = cluster.after(({ verb }) => {
      if (verb === 'apply') throw new ApiError(504, 'Timeout', 'the answer was lost');
    });
    await expect(engine.apply(set([configMap('a', { x: 'lost' })]))).rejects.toThrow('the answer was lost');
    stop();
    await engine.apply(set([configMap('a', { x: 'before' })]));
    expect(await cluster.admin.get(kinds.ConfigMap, { namespace: 'default', name: 'a' })).toMatchObject({
      data: { x: 'before' },
    });
  });

  test('creates a deleted object again', async () => {
    const engine = applier({ lookup });
    await engine.apply(set([configMap('a')]));
    await cluster.admin.delete(kinds.ConfigMap, { namespace: 'default', name: 'a' });
    const { drifted } = await engine.apply(set([configMap('a')]));
    expect([drifted.length, await names()]).toEqual([1, ['a']]);
  });

  test('applies every time without a cache, and prunes for an owner again after it was forgotten', async () => {
    const memory = new ObjectSlot<AppliedSets>();
    const engine = applier({ memory });
    await engine.apply(set([configMap('a')]));
    await engine.apply(set([configMap('a')]));
    expect([callsOf('apply'), callsOf('list')]).toEqual([2, 1]);
    memory.delete('uid-blue');
    await engine.apply(set([configMap('a', { x: 'new' })]));
    expect([callsOf('apply'), callsOf('list')]).toEqual([3, 2]);
  });
});

describe('Applying after a restart', () => {
  /** A new process, which has its caches and remembers nothing. */
  const restarted = async (over: Partial<ApplierOptions> = {}): Promise<Applier> => {
    await fillCache();
    cluster.forgetPast();
    return applier({ lookup, ...over });
  };
  const writes = (): readonly string[] =>
    cluster.calls.flatMap(({ verb, name = '' }) => (['get', 'list'].includes(verb) ? [] : [`${verb} ${name}`]));
  const at = { name: 'a', namespace: 'default' };

  test('reads an object that already is what would be applied, and does not send it, then or later', async () => {
    await applier().apply(set([configMap('a', { x: '1' })]));
    const engine = await restarted();
    const report = await engine.apply(set([configMap('a', { x: '1' })]));
    expect(report).toMatchObject({ applied: [], found: [{ data: { x: '1' } }], drifted: [], unchanged: 1 });
    expect([writes(), callsOf('get')]).toEqual([[], 1]);
    const before = cluster.calls.length;
    expect(await engine.apply(set([configMap('a', { x: '1' })]))).toMatchObject({ found: [], unchanged: 1 });
    expect(cluster.calls.length).toBe(before);
  });

  test('prunes what the process before applied and nobody wants anymore, although it applied nothing itself', async () => {
    await applier().apply(set([configMap('a'), configMap('b')]));
    const { pruned } = await (await restarted()).apply(set([configMap('a')]));
    expect(pruned.map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect([writes(), await names()]).toEqual([['delete b'], ['a']]);
  });

  test('creates an object that was pruned again when it is wanted again', async () => {
    const engine = applier();
    await engine.apply(set([configMap('a'), configMap('b')]));
    await engine.apply(set([configMap('a')]));
    const later = await restarted();
    await later.apply(set([configMap('a')]));
    await later.apply(set([configMap('a'), configMap('b')]));
    expect([writes(), await names()]).toEqual([['apply b'], ['a', 'b']]);
  });

  test.each<[string, object]>([
    ['a field of it', { data: { x: 'theirs' } }],
    [
      'its component label, without which it would never be pruned',
      { metadata: { labels: { [componentLabel]: null } } },
    ],
    ['its owner, without whom it would never be collected', { metadata: { ownerReferences: null } }],
  ])('sends an object of which someone changed %s meanwhile', async (_, body) => {
    const [made] = (await applier().apply(set([configMap('a', { x: '1' })]))).applied;
    await cluster.admin.patch(kinds.ConfigMap, at, { type: 'merge', body }, { fieldManager: 'somebody' });
    await (await restarted()).apply(set([configMap('a', { x: '1' })]));
    expect(writes()).toEqual(['apply a']);
    const { metadata, ...content } = (await cluster.admin.get<Resource>(kinds.ConfigMap, at)) ?? {};
    expect([content, metadata?.labels, metadata?.ownerReferences]).toEqual([
      { apiVersion: 'v1', kind: 'ConfigMap', data: { x: '1' } },
      made?.metadata.labels,
      made?.metadata.ownerReferences,
    ]);
  });

  test('sends an object with a field that the process before applied and that is no longer wanted', async () => {
    await applier().apply(set([configMap('a', { x: '1', y: '2' })]));
    await (await restarted()).apply(set([configMap('a', { x: '1' })]));
    expect((await cluster.admin.get(kinds.ConfigMap, at))?.data).toEqual({ x: '1' });
  });

  test('does not take an object that is being deleted for applied', async () => {
    const held = configMap('a');
    const wanted = set([{ ...held, metadata: { ...held.metadata, finalizers: ['example.com/held'] } }]);
    await applier().apply(wanted);
    await cluster.admin.delete(kinds.ConfigMap, at);
    await (await restarted()).apply(wanted);
    expect(writes()).toEqual(['apply a']);
  });

  test('reverts what someone changes after it was read', async () => {
    await applier().apply(set([configMap('a', { x: '1' })]));
    const engine = await restarted();
    await engine.apply(set([configMap('a', { x: '1' })]));
    const body = { data: { x: 'theirs' } };
    await cluster.admin.patch(kinds.ConfigMap, at, { type: 'merge', body }, { fieldManager: 'somebody' });
    await fillCache();
    expect((await engine.apply(set([configMap('a', { x: '1' })]))).drifted).toMatchObject([{ data: { x: '1' } }]);
  });

  test('does not take over an object of another owner that has the same content', async () => {
    const green = { ...owner, metadata: { ...owner.metadata, name: 'green', uid: 'uid-green' } };
    await applier().apply(set([configMap('a')], { owner: green }));
    await expect((await restarted()).apply(set([configMap('a')]))).rejects.toThrow('is controlled by Tenant green');
    expect(writes()).toEqual([]);
  });

  describe('for an owner of which nothing can have been applied', () => {
    const isFree = (_: KindRef, { name }: Key): boolean => name !== 'unknown';
    const calls = (): readonly string[] => cluster.calls.map(({ verb, name }) => `${verb} ${name ?? ''}`).sort();

    test('sends what is not there without reading it, lists nothing, and reads everything else', async () => {
      await applier().apply(set([configMap('a')], { prunes: [] }));
      const engine = await restarted();
      await engine.apply(set([configMap('a'), configMap('b'), configMap('unknown')]), { isFree });
      expect(calls()).toEqual(['apply b', 'apply unknown', 'get a', 'get unknown']);
    });

    test('lists what a component has that was applied in parts before', async () => {
      const engine = applier({ lookup });
      await engine.apply(set([configMap('a'), configMap('b')], { prunes: [] }), { isFree });
      await engine.apply(set([configMap('a')]), { isFree });
      expect(await names()).toEqual(['a']);
    });

    test('lists what may have been created by an apply whose answer was lost', async () => {
      const engine = applier({ lookup });
      const stop = cluster.after(({ verb }) => {
        if (verb === 'apply') throw new ApiError(504, 'Timeout', 'the answer was lost');
      });
      await expect(engine.apply(set([configMap('a')]), { isFree })).rejects.toThrow('the answer was lost');
      stop();
      await engine.apply(set([configMap('b')]), { isFree });
      expect(await names()).toEqual(['b']);
    });

    test('takes over no object of another controller that was created in this moment, and names that', async () => {
      const green = { ...owner, metadata: { ...owner.metadata, name: 'green', uid: 'uid-green' } };
      const theirs = set([configMap('a', { x: 'green' })], { owner: green });
      await applier({ fieldManager: 'another' }).apply(theirs);
      const engine = applier({ lookup });
      const wanted = set([configMap('a', { x: 'blue' })]);
      await expect(engine.apply(wanted, { isFree })).rejects.toThrow('is controlled by Tenant green (uid uid-green)');
      expect(await cluster.admin.get(kinds.ConfigMap, at)).toMatchObject({ data: { x: 'green' } });
    });

    test.each<[string, Partial<ApplierOptions>]>([
      ['which people create by hand, too', { writtenByHand: new Set(['ConfigMap']) }],
      ['which is only changed in the version that was read', { fenced: new Set(['ConfigMap']) }],
      ['whose adoption is decided by what it is', { foreign: () => undefined }],
    ])('reads an object of a kind %s', async (_, over) => {
      await applier({ lookup, ...over }).apply(set([configMap('a')]), { isFree });
      expect(calls()).toEqual(['apply a', 'get a']);
    });
  });

  test('asks whether an object may be adopted, also where it would not be sent', async () => {
    await applier().apply(set([configMap('a')]));
    const engine = await restarted({ foreign: () => 'ConfigMap default/a belongs to somebody' });
    await expect(engine.apply(set([configMap('a')]))).rejects.toThrow('belongs to somebody');
  });

  test('reads no object that the caller has read, unless a cache has a newer one', async () => {
    await applier().apply(set([configMap('a', { x: '1' })]));
    const read = await cluster.admin.get(kinds.ConfigMap, at);
    const live = (): Resource | undefined => read;
    await (await restarted()).apply(set([configMap('a', { x: '1' })], { prunes: [] }), { live });
    expect(cluster.calls).toEqual([]);
    const body = { data: { x: 'theirs' } };
    await cluster.admin.patch(kinds.ConfigMap, at, { type: 'merge', body }, { fieldManager: 'somebody' });
    await (await restarted()).apply(set([configMap('a', { x: '1' })], { prunes: [] }), { live });
    expect(cluster.calls.map(({ verb }) => verb)).toEqual(['get', 'apply']);
  });

  test('sends everything inside another cluster, unless the caller has read it', async () => {
    const inside = { marking: byAnnotation };
    await applier(inside).apply(set([configMap('a')]));
    const live = (_: KindRef, key: Key): Promise<Resource | undefined> => cluster.admin.get(kinds.ConfigMap, key);
    await (await restarted(inside)).apply(set([configMap('a')]), { live });
    expect(writes()).toEqual([]);
    await (await restarted(inside)).apply(set([configMap('a')]));
    expect(writes()).toEqual(['apply a']);
  });

  test('removes what others added to an object that is applied exactly', async () => {
    const kind = kinds.ValidatingAdmissionPolicyBinding as KindRef;
    const spec = { policyName: 'deny', validationActions: ['Deny'] };
    const apiVersion = 'admissionregistration.k8s.io/v1';
    const wanted = set([{ apiVersion, kind: kind.kind, metadata: { name: 'deny' }, spec }], { prunes: [] });
    const exact = { marking: byAnnotation, exact: [kind] };
    const live = (_: KindRef, key: Key): Promise<Resource | undefined> => cluster.admin.get(kind, key);
    await applier(exact).apply(wanted);
    await (await restarted(exact)).apply(wanted, { live });
    expect(writes()).toEqual([]);
    const body = { spec: { matchResources: { objectSelector: { matchLabels: { never: 'true' } } } } };
    await cluster.admin.patch(kind, { name: 'deny' }, { type: 'merge', body }, { fieldManager: 'somebody' });
    await (await restarted(exact)).apply(wanted, { live });
    const found = await cluster.admin.get(kinds.ValidatingAdmissionPolicyBinding, { name: 'deny' });
    expect(found?.spec).toEqual(spec);
  });
});

describe('A refused apply', () => {
  test.each([
    ['Secret "a" is invalid: type: Invalid value: "Opaque": field is immutable'],
    ['Service "a" is invalid: spec.clusterIPs[0]: Invalid value: []string{"10.0.0.2"}: may not change once set'],
    ['Job.batch "a" is invalid: spec.template: Invalid value: core.PodTemplateSpec{}: field is immutable'],
    [
      'RoleBinding.rbac.authorization.k8s.io "a" is invalid: roleRef: Invalid value: ' +
        'rbac.RoleRef{APIGroup:"rbac.authorization.k8s.io", Kind:"Role", Name:"b"}: cannot change roleRef',
    ],
    [
      'StatefulSet.apps "a" is invalid: spec: Forbidden: updates to statefulset spec for fields other than x are forbidden',
    ],
  ])('of an immutable field waits for a person and names the fix: %s', async (message) => {
    cluster.failNext({ verb: 'apply' }, new ApiError(422, 'Invalid', message));
    const error: unknown = await applier()
      .apply(set([configMap('a')]))
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TerminalError);
    expect(error).toMatchObject({ reason: 'ImmutableField' });
    expect((error as Error).message).toMatch(/^ConfigMap default\/a exists .* delete it to have it recreated/);
  });

  test('is reported if the object belongs to another owner of the same field manager', async () => {
    const green = { ...owner, metadata: { ...owner.metadata, name: 'green', uid: 'uid-green' } };
    await applier().apply(set([configMap('a', { x: 'green' })], { owner: green }));
    const error: unknown = await applier()
      .apply(set([configMap('a', { x: 'blue' })]))
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RetryError);
    expect((error as Error).message).toContain('ConfigMap default/a is controlled by Tenant green (uid uid-green)');
    expect(await cluster.admin.get(kinds.ConfigMap, { namespace: 'default', name: 'a' })).toMatchObject({
      data: { x: 'green' },
    });
    await cluster.admin.delete(kinds.ConfigMap, { namespace: 'default', name: 'a' });
    await expect(applier().apply(set([configMap('a')]))).resolves.toMatchObject({ applied: [{}] });
  });

  test('is retried for an object of another controller until that is gone', async () => {
    const message = 'metadata.ownerReferences: Invalid value: []: Only one reference can have Controller set to true.';
    cluster.failNext({ verb: 'apply' }, new ApiError(422, 'Invalid', message));
    const error: unknown = await applier()
      .apply(set([configMap('a')]))
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RetryError);
    expect(error).toMatchObject({ reason: 'OwnedByAnother' });
  });
});

describe('Applying where a former process may still have requests under way', () => {
  const read = (name: string) => cluster.admin.get(kinds.ConfigMap, { namespace: 'default', name });
  const fencing = (): Applier => applier({ fenced: new Set(['ConfigMap']) });
  const live = (_: KindRef, key: Key): Promise<Resource | undefined> => cluster.admin.get(kinds.ConfigMap, key);

  test('a request that was delayed does not undo what a successor has written since', async () => {
    const [former, successor] = [fencing(), fencing()];
    await former.apply(set([configMap('a', { x: '1' })]), { live });
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const remove = cluster.before(async ({ verb }) => {
      if (verb === 'apply') await promise;
    });
    const late = former.apply(set([configMap('a', { x: 'late' })]), { live });
    const refusal = expect(late).rejects.toThrow(ApiError);
    await new Promise((done) => setImmediate(done));
    remove();
    await successor.apply(set([configMap('a', { x: '2' })]), { live });
    resolve(undefined);
    await refusal;
    expect((await read('a'))?.data).toEqual({ x: '2' });
  });

  test('an object is created, changed several times, repaired and created again', async () => {
    const one = fencing();
    for (const x of ['1', '2', '3']) await one.apply(set([configMap('a', { x })]), { live });
    await cluster.admin.patch(
      kinds.ConfigMap,
      { namespace: 'default', name: 'a' },
      { type: 'merge', body: { data: { x: '4' } } },
    );
    await one.apply(set([configMap('a', { x: '3' })]), { live });
    expect((await read('a'))?.data).toEqual({ x: '3' });
    await cluster.admin.delete(kinds.ConfigMap, { namespace: 'default', name: 'a' });
    await one.apply(set([configMap('a', { x: '5' })]), { live });
    expect((await read('a'))?.data).toEqual({ x: '5' });
  });
});
