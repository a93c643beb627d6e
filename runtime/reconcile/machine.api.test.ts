import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../testing/eventually.ts';
import { ObjectSlot } from '../cache/object-slot.ts';
import { ObjectMemory } from '../cache/object-memory.ts';
import { randomUUID } from 'node:crypto';
import { kinds } from '../../api/core/kinds.ts';
import type { KindRef, Manifest, Resource } from '../../api/meta.ts';
import { apiServerUnderTest } from '../../testing/servers/api-server-under-test.ts';
import { AdmissionServer } from '../admission/admission-server.ts';
import { Applier } from '../apply/applier.ts';
import { systemClock } from '../clock.ts';
import type { Cluster } from '../client/cluster.ts';
import type { Controller } from './controller.ts';
import { RetryError, TerminalError } from '../client/errors.ts';
import { EventRecorder, eventKind } from '../observe/event-recorder.ts';
import { openCluster } from '../client/http-cluster.ts';
import { InformerFactory } from '../cache/informer-factory.ts';
import type { Informer } from '../cache/informer.ts';
import { silent } from '../observe/logger.ts';
import { Manager } from './manager.ts';
import { ServingCertificates } from '../server/serving-certificates.ts';

/** A kind of this file's own, so that tests of other files do not meet it. */
const group = `g${randomUUID().slice(0, 8)}.example.com`;
interface Tenant extends Resource {
  readonly spec?: { readonly size?: number };
  readonly status?: { readonly size?: number; readonly ready?: boolean };
}
const tenantKind: KindRef<Tenant> = { group, version: 'v1', kind: 'Tenant', plural: 'tenants', namespaced: true };
const namespace = `test-${randomUUID().slice(0, 8)}`;
const key = (name: string): { namespace: string; name: string } => ({ namespace, name });
const tenant = (name: string, spec: unknown = { size: 1 }): Manifest => ({
  apiVersion: `${group}/v1`,
  kind: 'Tenant',
  metadata: { name, namespace },
  spec,
});
const definition = (): Manifest => {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `tenants.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Tenant', plural: 'tenants', singular: 'tenant', listKind: 'TenantList' },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
};

let cluster: Cluster;
let informers: InformerFactory;
let tenants: Informer<Tenant>;

beforeAll(async () => {
  const { url, ca, adminCertificate, adminKey } = await apiServerUnderTest();
  cluster = openCluster({ server: url, ca, clientCert: adminCertificate, clientKey: adminKey }, { name: 'management' });
  informers = new InformerFactory({ cluster });
  await cluster.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const established = until(informers.informer({ kind: kinds.CustomResourceDefinition }), ({ metadata, status }) => {
    const isThere = status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True');
    return metadata.name === `tenants.${group}` && isThere === true;
  });
  await cluster.create(kinds.CustomResourceDefinition, definition());
  await established;
  tenants = informers.informer({ kind: tenantKind });
  await tenants.synced;
});
afterAll(async () => {
  await cluster.delete(kinds.CustomResourceDefinition, { name: `tenants.${group}` });
  await informers.close();
  await cluster.close();
});

/** Resolves with the first object of which `is` holds. */
function until<T extends Resource>(informer: Informer<T>, is: (object: T) => boolean): Promise<T> {
  return new Promise((resolve) => {
    informer.subscribe((_, now) => {
      if (now !== undefined && is(now)) resolve(now);
    });
  });
}
const untilGone = (name: string): Promise<void> =>
  new Promise((resolve) => {
    tenants.subscribe((old, now) => {
      if (now === undefined && old?.metadata.name === name) resolve();
    });
  });
const owner = async (name: string): Promise<Tenant> => {
  const created = await cluster.create(tenantKind, tenant(name));
  return { ...created, apiVersion: `${group}/v1`, kind: 'Tenant' };
};
const configMap = (name: string, data: Record<string, string> = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});
const applierFor = (lookup?: Informer): Applier =>
  new Applier({
    memory: new ObjectSlot(),
    cluster,
    fieldManager: 'example',
    marking: { by: 'ownerReference', componentLabel: 'example.com/component' },
    kinds: Object.values(kinds),
    ...(lookup === undefined ? {} : { lookup: (kind, at) => (kind.kind === 'ConfigMap' ? lookup.get(at) : undefined) }),
  });

test('a controller handles an object from its finalizer to its deletion, with one status and an Event', async () => {
  const finalizer = `${group}/held`;
  const seen: string[] = [];
  const controller: Controller<Tenant> = {
    name: 'tenant',
    kind: tenantKind,
    watches: [],
    access: [],
    finalizers: [finalizer],
    reconcile: ({ metadata, spec }, ctx) => {
      seen.push(`reconcile ${metadata.finalizers?.join() ?? ''}`);
      ctx.event('Normal', 'Seen', 'the tenant was seen');
      return Promise.resolve({ status: { size: spec?.size ?? 0, ready: false } });
    },
    finalize: () => {
      seen.push('finalize');
      return Promise.resolve({ finished: true });
    },
  };
  const events = new EventRecorder({
    memory: new ObjectMemory(),
    cluster,
    clock: systemClock,
    log: silent,
    controller: 'example.com/m',
    instance: 'm',
  });
  const manager = new Manager({
    memory: new ObjectMemory(),
    controllers: [controller],
    cluster,
    informers,
    clock: systemClock,
    log: silent,
    events,
  });
  await manager.start();
  try {
    await cluster.create(tenantKind, tenant('seen'));
    const first = await until(tenants, ({ metadata, status }) => metadata.name === 'seen' && status !== undefined);
    expect(first.status).toEqual({ size: 1, ready: false });
    await cluster.patch(tenantKind, key('seen'), { type: 'merge', body: { spec: { size: 5 } } });
    await until(tenants, ({ metadata, status }) => metadata.name === 'seen' && status?.size === 5);
    const gone = untilGone('seen');
    await cluster.delete(tenantKind, key('seen'));
    await gone;
    expect(seen[0]).toBe(`reconcile ${finalizer}`);
    expect(seen.at(-1)).toBe('finalize');
    await events.flush();
    const { items } = await cluster.list(eventKind, { namespace });
    expect(items).toMatchObject([
      { reason: 'Seen', regarding: { kind: 'Tenant', name: 'seen' }, series: { count: 2 } },
    ]);
  } finally {
    await manager.stop(2000);
  }
});

test('a set is applied, reverted and pruned; an unchanged one costs no request', async () => {
  const cache = informers.informer({ kind: kinds.ConfigMap, namespace });
  await cache.synced;
  const applier = applierFor(cache);
  const set = { owner: await owner('apply'), component: 'settings', prunes: [kinds.ConfigMap] };
  await applier.apply({ ...set, manifests: [configMap('a', { x: '1' }), configMap('b')] });
  await until(cache, ({ metadata }) => metadata.name === 'a');
  const quiet = await applier.apply({ ...set, manifests: [configMap('a', { x: '1' })] });
  expect([quiet.unchanged, quiet.pruned.map(({ metadata }) => metadata.name)]).toEqual([1, ['b']]);
  const changed = until(cache, ({ metadata, data }) => metadata.name === 'a' && data?.x === 'changed');
  await cluster.patch(kinds.ConfigMap, key('a'), { type: 'merge', body: { data: { x: 'changed' } } });
  await changed;
  const { drifted } = await applier.apply({ ...set, manifests: [configMap('a', { x: '1' })] });
  expect(drifted).toMatchObject([{ data: { x: '1' } }]);
  const again = await applierFor().apply({ ...set, manifests: [] });
  expect(again.pruned.map(({ metadata }) => metadata.name)).toEqual(['a']);
});

test('an object that cannot be changed, or has another controller, is reported with the fix', async () => {
  const secret = (type: string): Manifest => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'typed', namespace },
    type,
  });
  const [one, other] = [await owner('one'), await owner('other')];
  const set = { component: 'typed', prunes: [kinds.Secret] };
  await applierFor().apply({ ...set, owner: one, manifests: [secret('a')] });
  const immutable: unknown = await applierFor()
    .apply({ ...set, owner: one, manifests: [secret('b')] })
    .catch((error: unknown) => error);
  expect(immutable).toBeInstanceOf(TerminalError);
  expect(immutable).toMatchObject({ reason: 'ImmutableField' });
  const owned: unknown = await applierFor()
    .apply({ ...set, owner: other, manifests: [secret('a')] })
    .catch((error: unknown) => error);
  expect(owned).toBeInstanceOf(RetryError);
  expect(owned).toMatchObject({ reason: 'OwnedByAnother' });
});

test('the API server calls the webhooks with the certificates that the manager issued, also after a rotation', async () => {
  const name = `rules-${randomUUID().slice(0, 8)}`;
  const server = new AdmissionServer({
    clock: systemClock,
    log: silent,
    handlers: {
      '/mutate': ({ object }) =>
        object == null ? { allowed: true } : { allowed: true, object: { ...object, spec: { size: 42 } } as Resource },
      '/validate': ({ object }) =>
        object?.metadata.name === 'bad'
          ? { allowed: false, message: 'bad is no name' }
          : { allowed: true, warnings: ['seen'] },
    },
  });
  const options = {
    cluster,
    informers,
    clock: systemClock,
    log: silent,
    secret: { namespace, name: 'serving' },
    names: { dnsNames: [], ipAddresses: ['127.0.0.1'] },
    mutating: [name],
    validating: [name],
  };
  const port = await server.listen({ host: '127.0.0.1', port: 0 }, await new ServingCertificates(options).ensure());
  const certificates = new ServingCertificates({ ...options, url: `https://127.0.0.1:${port}` });
  const webhook = (path: string): unknown => ({
    name: `rule.${group}`,
    clientConfig: { url: `https://127.0.0.1:1${path}` },
    rules: [{ apiGroups: [group], apiVersions: ['v1'], resources: ['tenants'], operations: ['CREATE'], scope: '*' }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    failurePolicy: 'Fail',
  });
  const apiVersion = 'admissionregistration.k8s.io/v1';
  await cluster.create(kinds.MutatingWebhookConfiguration, {
    ...{ apiVersion, kind: 'MutatingWebhookConfiguration', metadata: { name } },
    webhooks: [webhook('/mutate')],
  });
  await cluster.create(kinds.ValidatingWebhookConfiguration, {
    ...{ apiVersion, kind: 'ValidatingWebhookConfiguration', metadata: { name } },
    webhooks: [webhook('/validate')],
  });
  try {
    server.use(await certificates.ensure());
    // The API server loads the configurations one after the other.
    await eventually(async () => {
      const created = await cluster.create(tenantKind, tenant('good'), { dryRun: true });
      expect(created.spec).toEqual({ size: 42 });
      await expect(cluster.create(tenantKind, tenant('bad'), { dryRun: true })).rejects.toThrow('bad is no name');
    });
    expect((await cluster.create(tenantKind, tenant('good'))).spec).toEqual({ size: 42 });
    await expect(cluster.create(tenantKind, tenant('bad'))).rejects.toThrow('bad is no name');
    await cluster.delete(kinds.Secret, options.secret);
    server.use(await certificates.ensure());
    await expect(eventually(() => cluster.create(tenantKind, tenant('later')))).resolves.toBeDefined();
  } finally {
    await cluster.delete(kinds.MutatingWebhookConfiguration, { name });
    await cluster.delete(kinds.ValidatingWebhookConfiguration, { name });
    await server.close();
  }
});
