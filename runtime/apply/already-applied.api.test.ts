import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { kinds } from '../../api/core/kinds.ts';
import type { Json, KindRef, Manifest, Resource } from '../../api/meta.ts';
import { apiServerUnderTest } from '../../testing/servers/api-server-under-test.ts';
import type { Cluster, Patch } from '../client/cluster.ts';
import { ApiError } from '../client/errors.ts';
import { openCluster } from '../client/http-cluster.ts';
import { isAlreadyApplied } from './already-applied.ts';

const us = { fieldManager: 'steward' };
const namespace = `test-${randomUUID().slice(0, 8)}`;
/** An answer of the API server; any other error is thrown. */
const refused = (error: unknown): void => {
  if (!(error instanceof ApiError)) throw error;
};
let cluster: Cluster;
let count = 0;

beforeAll(async () => {
  const { url, ca, adminCertificate, adminKey } = await apiServerUnderTest();
  cluster = openCluster({ server: url, ca, clientCert: adminCertificate, clientKey: adminKey }, { name: 'management' });
  await cluster.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
});

afterAll(async () => {
  await cluster.close();
});

const value = fc.constantFrom('1', '2');
const some = fc.dictionary(fc.constantFrom('x', 'y'), value, { minKeys: 1, maxKeys: 2, noNullPrototype: true });
const owners = fc
  .subarray(['u', 'v'], { minLength: 1 })
  .map((uids) => uids.map((uid) => ({ apiVersion: 'v1', kind: 'Owner', name: uid, uid })));
const metadata = fc.record(
  {
    labels: some,
    finalizers: fc.subarray(['example.com/a', 'example.com/b'], { minLength: 1 }),
    ownerReferences: owners,
  },
  { requiredKeys: [] },
);
const container = fc.record(
  {
    name: fc.constantFrom('a', 'b', 'c'),
    image: value,
    args: fc.array(value, { minLength: 1, maxLength: 2 }),
    env: fc.constantFrom(
      [{ name: 'E', value: '1' }],
      [
        { name: 'F', value: '1' },
        { name: 'E', value: '2' },
      ],
      [{ name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    ),
    ports: fc.constantFrom([{ containerPort: 1 }], [{ containerPort: 2, protocol: 'UDP' }, { containerPort: 1 }]),
    resources: fc.constantFrom(
      { requests: { cpu: '500m' } },
      { limits: { memory: '1Gi' } },
      { requests: { cpu: '0.5', memory: '1024Mi' } },
    ),
  },
  { requiredKeys: ['name', 'image'] },
);
const containers = fc.uniqueArray(container, { selector: ({ name }) => name, minLength: 1, maxLength: 3 });

const configMap = fc
  .tuple(some, metadata)
  .map(([data, about]): Manifest => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...about, name: '' }, data }));
const deployment = fc.tuple(containers, some, metadata).map(([all, nodeSelector, about]): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...about, name: '' },
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: { metadata: { labels: { app: 'a' } }, spec: { containers: all, nodeSelector } },
  },
}));

const edits = fc.oneof(
  some.map((data) => ({ data })),
  metadata.map((about) => ({ metadata: about })),
  fc.constantFrom(
    { metadata: { labels: null } },
    { metadata: { finalizers: null } },
    { metadata: { managedFields: [{}] } },
  ),
  containers.map((all) => ({ spec: { template: { spec: { containers: all } } } })),
);

/** What someone does to an object after it was applied. */
const changeOf = (manifests: fc.Arbitrary<Manifest>) =>
  fc.oneof(
    fc.record({ by: fc.constantFrom('steward', 'somebody'), applies: manifests }),
    fc.record({ by: fc.constantFrom('steward', 'somebody'), edits }),
    fc.constant({ by: 'somebody', deletes: true }),
  );

test.each([
  ['ConfigMap', kinds.ConfigMap as KindRef, configMap],
  ['Deployment', kinds.Deployment as KindRef, deployment],
] as const)(
  'A real API server changes nothing where applying a %s would be left out',
  async (_, kind, manifests) => {
    let leftOut = 0;
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(manifests, fc.array(changeOf(manifests), { maxLength: 2 }), async (made, happens) => {
        const key = { namespace, name: `o-${String((count += 1))}` };
        const named = (manifest: Manifest): Manifest => ({ ...manifest, metadata: { ...manifest.metadata, ...key } });
        const wanted = named(made);
        await cluster.apply(kind, wanted, us);
        for (const change of happens) {
          const options = { fieldManager: change.by };
          // Some are refused.
          if ('applies' in change) await cluster.apply(kind, named(change.applies), options).catch(refused);
          else if ('edits' in change) {
            const patch: Patch = { type: 'merge', body: change.edits };
            await cluster.patch(kind, key, patch, options).catch(refused);
          } else await cluster.delete(kind, key);
        }
        const before = await cluster.get<Resource>(kind, key);
        if (before === undefined || !isAlreadyApplied(before, wanted, us.fieldManager)) {
          sent += 1;
          return;
        }
        leftOut += 1;
        expect((await cluster.apply<Resource>(kind, wanted, us)).metadata).toEqual(before.metadata);
      }),
      { numRuns: 80 },
    );
    expect(Math.min(leftOut, sent)).toBeGreaterThan(2);
  },
  120_000,
);

test('Whoever edits managedFields can hide nothing of what applying would revert: the API server corrects them', async () => {
  const key = { namespace, name: `o-${String((count += 1))}` };
  const manifest: Manifest = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: key,
    spec: {
      selector: { matchLabels: { app: 'a' } },
      template: {
        metadata: { labels: { app: 'a' } },
        spec: { containers: [{ name: 'a', image: '1', args: ['--safe'] }], nodeSelector: { x: '1' } },
      },
    },
  };
  const made = await cluster.apply<Resource>(kinds.Deployment, manifest, us);
  expect(isAlreadyApplied(made, manifest, us.fieldManager)).toBe(true);
  const pod = { containers: [{ name: 'a', image: '1', args: ['--safe', '--unsafe'] }], nodeSelector: { y: '2' } };
  const edit = { type: 'merge', body: { spec: { template: { spec: pod } } } } as const;
  await cluster.patch(kinds.Deployment, key, edit, { fieldManager: 'somebody' });
  // As if each argument and each label of a node had an owner, so that those of others would stay.
  const text = JSON.stringify(made.metadata.managedFields)
    .replace('"f:args":{}', '"f:args":{"v:\\"--safe\\"":{}}')
    .replace('"f:nodeSelector":{}', '"f:nodeSelector":{"f:x":{}}');
  expect(text).toMatch(/"f:args":{"v:.*"f:nodeSelector":{"f:x"/);
  const body = { metadata: { managedFields: JSON.parse(text) as Json } };
  await cluster.patch(kinds.Deployment, key, { type: 'merge', body }, { fieldManager: 'somebody' });
  const before = await cluster.get<Resource>(kinds.Deployment, key);
  expect(JSON.stringify(before?.metadata.managedFields)).toContain('"f:args":{}');
  expect(before && isAlreadyApplied(before, manifest, us.fieldManager)).toBe(false);
  const after = await cluster.apply<Resource>(kinds.Deployment, manifest, us);
  expect(after).toMatchObject({ spec: { template: { spec: { nodeSelector: { x: '1' } } } } });
  expect(JSON.stringify(after)).not.toContain('--unsafe');
});

test('A real API server lets others fill what was applied as an empty map: its content is not ours, even if it is wanted now', async () => {
  const key = { namespace, name: `o-${String((count += 1))}` };
  const holding = (data: Readonly<Record<string, string>>): Manifest => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: key,
    data,
  });
  await cluster.apply(kinds.ConfigMap, holding({}), us);
  const before = await cluster.apply<Resource>(kinds.ConfigMap, holding({ x: '1' }), { fieldManager: 'somebody' });
  expect(isAlreadyApplied(before, holding({ x: '1' }), us.fieldManager)).toBe(false);
  const after = await cluster.apply<Resource>(kinds.ConfigMap, holding({ x: '1' }), us);
  expect(after.metadata.managedFields).not.toEqual(before.metadata.managedFields);
  expect(isAlreadyApplied(after, holding({ x: '1' }), us.fieldManager)).toBe(true);
});
