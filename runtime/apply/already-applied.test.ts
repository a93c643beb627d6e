import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { kinds } from '../../api/core/kinds.ts';
import type { Json, KindRef, Manifest, Resource } from '../../api/meta.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { ApiError } from '../client/errors.ts';
import { isAlreadyApplied } from './already-applied.ts';

const us = { fieldManager: 'steward' };
const them = { fieldManager: 'somebody' };
const key = { namespace: 'default', name: 'a' };

/** An answer of the API server; any other error is thrown. */
const refused = (error: unknown): void => {
  if (!(error instanceof ApiError)) throw error;
};

const configMap = (data: object, metadata: Partial<Manifest['metadata']> = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...key, ...metadata },
  data,
});

const deployment = (pod: object, spec: object = {}): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: key,
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: { metadata: { labels: { app: 'a' } }, spec: { containers: [], ...pod } },
    ...spec,
  },
});

const kindOf = ({ kind }: Manifest): KindRef => (kind === 'Deployment' ? kinds.Deployment : kinds.ConfigMap);

async function applied(
  manifest: Manifest,
): Promise<{ readonly cluster: FakeCluster; readonly live: () => Promise<Resource> }> {
  const cluster = new FakeCluster();
  await cluster.apply(kindOf(manifest), manifest, us);
  const live = async (): Promise<Resource> => {
    const found = await cluster.get<Resource>(kindOf(manifest), key);
    if (found === undefined) throw new Error('the object is gone');
    return found;
  };
  return { cluster, live };
}

/** What is left of an object that this field manager applied, as the API server returns it. */
function live(fields: object, owned: Json, metadata: object = {}): Resource {
  const entry: Json = {
    manager: 'steward',
    operation: 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: owned,
  };
  const own = { ...key, uid: 'u', resourceVersion: '1', managedFields: [entry], ...metadata };
  return { apiVersion: 'v1', kind: 'ConfigMap', ...fields, metadata: own };
}

const holds = (found: Resource, manifest: Manifest): boolean => isAlreadyApplied(found, manifest, us.fieldManager);

describe('An object already is what would be applied', () => {
  test.each<[string, Manifest]>([
    ['a map', configMap({ x: '1', y: '2' }, { labels: { a: 'b' }, annotations: { c: 'd' } })],
    ['a set', configMap({ x: '1' }, { finalizers: ['example.com/a', 'example.com/b'] })],
    ['a field that is undefined, which is not sent', { ...configMap({ x: '1' }), immutable: undefined }],
    [
      'lists of items with keys, and lists that are replaced as a whole',
      deployment({
        containers: [
          { name: 'a', image: 'i', args: ['--x', '--y'], env: [{ name: 'E', value: '1' }] },
          { name: 'b', image: 'i', ports: [1, 2].map((containerPort) => ({ containerPort, protocol: 'TCP' })) },
        ],
        tolerations: [{ operator: 'Exists' }],
        volumes: [{ name: 'v', emptyDir: {} }],
      }),
    ],
  ])('after it was applied: %s', async (_, manifest) => {
    const { live: now } = await applied(manifest);
    expect(holds(await now(), manifest)).toBe(true);
  });

  test('although others own further fields and items, and share some', async () => {
    const manifest = deployment({ containers: [{ name: 'a', image: 'i' }] });
    const { cluster, live: now } = await applied(manifest);
    const theirs = deployment({ containers: [{ name: 'a', image: 'i' }, { name: 'sidecar' }] }, { replicas: 3 });
    await cluster.apply(kinds.Deployment, theirs, them);
    expect(holds(await now(), manifest)).toBe(true);
  });
});

describe('What the API server completes inside a value that is only replaced as a whole', () => {
  const group = 'rbac.authorization.k8s.io';
  const name = 'system:nodes';
  const binding = (apiVersion: string, subjects: Json | undefined): Manifest => ({
    apiVersion,
    kind: 'RoleBinding',
    metadata: key,
    subjects,
  });
  const found = (apiVersion: string, fields: object, owned: object): Resource => {
    const managedFields = [{ manager: 'steward', operation: 'Apply', apiVersion, fieldsV1: owned }];
    return { ...live(fields, {}, { managedFields }), apiVersion, kind: 'RoleBinding' };
  };

  test('is no difference: the group of users and groups', () => {
    const isSame = (apiVersion: string, wanted: Json, subjects: Json): boolean =>
      holds(found(apiVersion, { subjects }, { 'f:subjects': {} }), binding(apiVersion, wanted));
    const sent = { kind: 'Group', name };
    expect(isSame(`${group}/v1`, [sent], [{ ...sent, apiGroup: group }])).toBe(true);
    expect(isSame(`${group}/v1`, [sent], [{ ...sent, apiGroup: 'x' }])).toBe(false);
    const account = { kind: 'ServiceAccount', name };
    expect(isSame(`${group}/v1`, [account], [account])).toBe(true);
    expect(isSame(`${group}/v1`, [account], [{ ...account, apiGroup: group }])).toBe(false);
    expect(isSame('example.com/v1', [sent], [{ ...sent, apiGroup: group }])).toBe(false);
  });

  test.each([
    ['apps/v1', true],
    ['example.com/v1', false],
  ])('is no difference: the version of a reference to a field of a pod, in %s', (apiVersion, isSame) => {
    const wanted = { ...binding(apiVersion, undefined), spec: { fieldRef: { fieldPath: 'spec.nodeName' } } };
    const spec = { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } };
    const now = found(apiVersion, { spec }, { 'f:spec': { 'f:fieldRef': {} } });
    expect(holds(now, wanted)).toBe(isSame);
  });
});

describe('An object is not what would be applied', () => {
  const manifest = configMap({ x: '1', y: '2' }, { labels: { a: 'b' }, finalizers: ['example.com/held'] });

  test.each<[string, object]>([
    ['a value is another one', { data: { x: '9' } }],
    ['a field has gone', { data: { x: null } }],
    ['a label has gone', { metadata: { labels: { a: null } } }],
    ['an item of a set has gone', { metadata: { finalizers: [] } }],
  ])('when %s', async (_, body) => {
    const { cluster, live: now } = await applied(manifest);
    await cluster.patch(kinds.ConfigMap, key, { type: 'merge', body }, them);
    expect(holds(await now(), manifest)).toBe(false);
  });

  test('when someone else changed a value and changed it back: the field is theirs', async () => {
    const { cluster, live: now } = await applied(manifest);
    for (const x of ['9', '1']) {
      await cluster.patch(kinds.ConfigMap, key, { type: 'merge', body: { data: { x } } }, them);
    }
    expect(await now()).toMatchObject({ data: { x: '1', y: '2' } });
    expect(holds(await now(), manifest)).toBe(false);
  });

  test('when it was applied with an empty map that someone else has filled with what is wanted now: the fields are theirs', async () => {
    const { cluster, live: now } = await applied(configMap({}));
    await cluster.apply(kinds.ConfigMap, configMap({ x: '1' }), them);
    expect(await now()).toMatchObject({ data: { x: '1' } });
    expect(holds(await now(), configMap({ x: '1' }))).toBe(false);
  });

  test('when it was applied with a field that is no longer wanted, which an apply would remove', async () => {
    const { live: now } = await applied(manifest);
    expect(holds(await now(), configMap({ x: '1' }, { labels: { a: 'b' }, finalizers: ['example.com/held'] }))).toBe(
      false,
    );
  });

  test('when it is being deleted', async () => {
    const { cluster, live: now } = await applied(manifest);
    await cluster.delete(kinds.ConfigMap, key);
    const found = await now();
    expect(found.metadata.deletionTimestamp).toBeDefined();
    expect(holds(found, manifest)).toBe(false);
  });

  test('when someone else created it with the same content', async () => {
    const cluster = new FakeCluster();
    await cluster.create(kinds.ConfigMap, configMap({ x: '1' }), us);
    const found = await cluster.get(kinds.ConfigMap, key);
    expect(found && holds(found, configMap({ x: '1' }))).toBe(false);
  });

  test('when the API server stores a value in another form, or does not return it', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: key, stringData: { x: 'plain' } };
    const cluster = new FakeCluster();
    const stored = await cluster.apply<Resource>(kinds.Secret, secret, us);
    expect(holds(stored, secret)).toBe(false);
    const stale = live({ stringData: { x: 'plain' } }, { 'f:stringData': { 'f:x': {} } }, {});
    expect(holds({ ...stale, kind: 'Secret' }, { ...secret, stringData: { x: 'other' } })).toBe(false);
  });

  test.each<[string, unknown, unknown, Json]>([
    ['a quantity', '1000m', '1', {}],
    ['a number that is text', 1, '1', {}],
    ['a map that is not returned', {}, undefined, {}],
    ['a map that others have filled', {}, { theirs: 1 }, {}],
    ['a list that is not returned', [], undefined, {}],
    ['null', null, null, {}],
    ['a map that is replaced as a whole, with a default in it', { a: 1 }, { a: 1, b: 2 }, {}],
    ['a list that is replaced as a whole, with an item more', [1], [1, 2], {}],
    ['a map owned as a list', { a: 1 }, { a: 1 }, { 'k:{"a":1}': { '.': {}, 'f:a': {} } }],
    ['a map of which the field manager owns the map itself, too', { a: 1 }, { a: 1 }, { '.': {}, 'f:a': {} }],
    ['a list owned by positions', ['a'], ['a'], { 'i:0': {} }],
    ['a list owned by steps that are no JSON', ['a'], ['a'], { 'v:a': {} }],
    ['items in another order', ['a', 'b'], ['b', 'a'], { 'v:"a"': {}, 'v:"b"': {} }],
    ['an item that is there twice', ['a'], ['a', 'a'], { 'v:"a"': {} }],
    ['an item that is wanted twice', ['a', 'a'], ['a'], { 'v:"a"': {}, 'v:"b"': {} }],
    [
      'items with the same key',
      [{ n: 'a' }],
      [
        { n: 'a', x: 1 },
        { n: 'a', x: 2 },
      ],
      { 'k:{"n":"a"}': { '.': {}, 'f:n': {} } },
    ],
    ['an item that is replaced as a whole', [{ n: 'a' }], [{ n: 'a', x: 1 }], { 'k:{"n":"a"}': {} }],
    ['an item that is not owned itself', [{ n: 'a' }], [{ n: 'a' }], { 'k:{"n":"a"}': { 'f:n': {} } }],
    [
      'an item whose key may be one of two',
      [{ n: 1 }],
      [
        { n: 1, p: 'A' },
        { n: 1, p: 'B' },
      ],
      { 'k:{"n":1,"p":"A"}': { '.': {}, 'f:n': {} }, 'k:{"n":1,"p":"B"}': { '.': {}, 'f:n': {} } },
    ],
    ['an item without its key', [{ n: 'a' }], [{}], { 'k:{"n":"a"}': { '.': {}, 'f:n': {} } }],
  ])('when in doubt: %s', (_, wanted, stored, owned) => {
    const found = live(stored === undefined ? {} : { data: stored }, { 'f:data': owned });
    expect(holds(found, configMap(wanted as object))).toBe(false);
  });

  test.each<[string, object]>([
    ['none', { managedFields: undefined }],
    ['no list', { managedFields: 'all' }],
    ['no objects', { managedFields: [null, 'x', []] }],
    [
      'of another field manager',
      { managedFields: [{ manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsV1: {} }] },
    ],
    [
      'of an update, not of an apply',
      { managedFields: [{ manager: 'steward', operation: 'Update', apiVersion: 'v1', fieldsV1: {} }] },
    ],
    [
      'of a subresource',
      {
        managedFields: [
          { manager: 'steward', operation: 'Apply', apiVersion: 'v1', subresource: 'status', fieldsV1: {} },
        ],
      },
    ],
    [
      'of another version of the kind',
      { managedFields: [{ manager: 'steward', operation: 'Apply', apiVersion: 'v2', fieldsV1: {} }] },
    ],
    ['without fields', { managedFields: [{ manager: 'steward', operation: 'Apply', apiVersion: 'v1' }] }],
    [
      'twice',
      {
        managedFields: [
          { manager: 'steward', operation: 'Apply', apiVersion: 'v1', fieldsV1: {} },
          { manager: 'steward', operation: 'Apply', apiVersion: 'v1', fieldsV1: {} },
        ],
      },
    ],
  ])('when its managedFields are %s', (_, metadata) => {
    const bare = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
    expect(holds(live({}, {}), bare)).toBe(true);
    expect(holds(live({}, {}, metadata), bare)).toBe(false);
  });

  test.each([{ name: 'b' }, { namespace: 'other' }])('when it is another object: %j', (metadata) => {
    expect(holds(live({}, {}, metadata), { apiVersion: 'v1', kind: 'ConfigMap', metadata: key })).toBe(false);
  });

  test('when it is asked for a version of its own: the API server compares that', () => {
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, resourceVersion: '1' } };
    expect(holds(live({}, {}), manifest)).toBe(false);
  });
});

const value = fc.constantFrom('1', '2');
const few = fc.dictionary(fc.constantFrom('x', 'y'), value, { maxKeys: 2, noNullPrototype: true });
const owner = (uid: string): object => ({ apiVersion: 'v1', kind: 'Owner', name: uid, uid });
const metadata = fc.record(
  {
    labels: few.filter((all) => Object.keys(all).length > 0),
    finalizers: fc.subarray(['example.com/a', 'example.com/b'], { minLength: 1 }),
    ownerReferences: fc.subarray(['u', 'v'], { minLength: 1 }).map((uids) => uids.map(owner)),
  },
  { requiredKeys: [] },
);
const settings = fc.tuple(few, metadata).map(([data, about]) => configMap(data, about as Manifest['metadata']));
const container = fc.record(
  {
    name: fc.constantFrom('a', 'b', 'c'),
    image: value,
    args: fc.array(value, { maxLength: 2 }),
    env: fc.uniqueArray(fc.record({ name: fc.constantFrom('E', 'F'), value }), {
      selector: ({ name }) => name,
      maxLength: 2,
    }),
    ports: fc.uniqueArray(fc.record({ containerPort: fc.constantFrom(1, 2), protocol: fc.constant('TCP') }), {
      selector: ({ containerPort }) => containerPort,
      maxLength: 2,
    }),
  },
  { requiredKeys: ['name'] },
);
const containers = fc.uniqueArray(container, { selector: ({ name }) => name, maxLength: 3 });
const pods = fc
  .tuple(containers, fc.record({ replicas: fc.constantFrom(1, 2) }, { requiredKeys: [] }), few)
  .map(([all, spec, nodeSelector]) => deployment({ containers: all, nodeSelector }, spec));

/** What happens to an object after it was applied: each is done by someone. */
const change = (manifests: fc.Arbitrary<Manifest>, bodies: fc.Arbitrary<object>) =>
  fc.oneof(
    fc.record({ does: fc.constant('apply' as const), by: fc.constantFrom('steward', 'somebody'), manifest: manifests }),
    fc.record({ does: fc.constant('patch' as const), by: fc.constantFrom('steward', 'somebody'), body: bodies }),
    fc.record({ does: fc.constantFrom('delete' as const, 'replace' as const), manifest: manifests }),
  );
const edits = fc.oneof(
  few.map((data) => ({ data })),
  fc.constantFrom('x', 'y').map((name) => ({ data: { [name]: null } })),
  metadata.map((about) => ({ metadata: about })),
  fc.constant({ metadata: { labels: null } }),
);
const podEdits = fc.oneof(
  containers.map((all) => ({ spec: { template: { spec: { containers: all } } } })),
  fc.constantFrom(1, 2, null).map((replicas) => ({ spec: { replicas } })),
  few.map((nodeSelector) => ({ spec: { template: { spec: { nodeSelector } } } })),
);

test.each([
  ['settings', settings],
  ['pods', pods],
])(
  'What is applied to new %s is recognized, or each restart would apply it again: unless something is empty',
  async (_, all) => {
    const full = all.filter((manifest) => !/{}|\[\]/.test(JSON.stringify(manifest)));
    await fc.assert(
      fc.asyncProperty(full, async (manifest) => {
        expect(holds(await new FakeCluster().apply<Resource>(kindOf(manifest), manifest, us), manifest)).toBe(true);
      }),
    );
  },
);

test.each([
  ['settings', settings, change(settings, edits)],
  ['pods', pods, change(pods, podEdits)],
] as const)(
  'Whatever happens to %s: where applying is left out, it would change nothing',
  async (_, wanted, changes) => {
    let leftOut = 0;
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(wanted, fc.array(changes, { maxLength: 3 }), async (manifest, happens) => {
        const cluster = new FakeCluster();
        const kind = kindOf(manifest);
        await cluster.apply(kind, manifest, us);
        for (const one of happens) {
          // Some are refused, for example after a deletion.
          await act(cluster, kind, one).catch(refused);
        }
        const before = await cluster.get<Resource>(kind, key);
        if (before === undefined) return;
        if (!holds(before, manifest)) {
          sent += 1;
          return;
        }
        leftOut += 1;
        expect(await cluster.apply<Resource>(kind, manifest, us)).toEqual(before);
      }),
      { numRuns: 400 },
    );
    expect(Math.min(leftOut, sent)).toBeGreaterThan(40);
  },
);

type Change = ReturnType<typeof change> extends fc.Arbitrary<infer C> ? C : never;

async function act(cluster: FakeCluster, kind: KindRef, one: Change): Promise<void> {
  if (one.does === 'apply') await cluster.apply(kind, one.manifest, { fieldManager: one.by });
  else if (one.does === 'patch') {
    await cluster.patch(kind, key, { type: 'merge', body: one.body }, { fieldManager: one.by });
  } else {
    await cluster.delete(kind, key);
    if (one.does === 'replace') await cluster.create(kind, one.manifest, them);
  }
}
