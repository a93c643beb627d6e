import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../api/as-stored.ts';
import type { Resource } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { listedInformers } from '../../testing/fake/listed-informers.ts';
import { publishedTenant } from '../../testing/worlds/published-tenant.ts';
import type { PublishedBy } from '../../testing/worlds/published-tenant.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { tenantControlPlaneWatches } from './watches.ts';
import { verifiedIsolation } from '../../testing/builders/verified-isolation.ts';

const tenant = (name: string, spec: object, status?: TenantControlPlane['status']): TenantControlPlane =>
  tenantControlPlaneWith({
    metadata: { name, namespace: 'default', uid: name },
    spec,
    status,
  });

const waits = tenant('waits', { dataStore: '', dataStoreSelector: {} });
const uses = tenant('uses', { dataStore: 'a' });
const placed = tenant(
  'placed',
  { dataStore: '', dataStoreSelector: {} },
  {
    storage: { placement: { dataStoreName: 'a', score: 1, time: '2030-01-01T00:00:00Z' } },
  },
);
const elsewhere = tenant('elsewhere', { dataStore: 'b' });
const unnamed = tenant('unnamed', { dataStore: '' });

const drained = tenant(
  'drained',
  { dataStore: 'full' },
  { storage: { dataStoreName: 'full', setup: { schema: 's' } } },
);
const stuck = tenant(
  'stuck',
  { dataStore: 'full' },
  {
    storage: {
      ...drained.status?.storage,
      drain: { from: 'full', named: 'full', message: 'no DataStore fits' },
    },
  },
);
let further: readonly TenantControlPlane[] = [];
const informers = listedInformers({
  TenantControlPlane: () => [waits, uses, placed, elsewhere, unnamed, ...further],
});
const watches = tenantControlPlaneWatches(informers, 'fallback');
const keysOf = (kind: string, old: unknown, now: unknown): readonly string[] => {
  const watch = watches.find((one) => one.kind.kind === kind);
  return (watch?.keys(old as never, now as never) ?? []).map(({ name }) => name).sort();
};

interface Told {
  readonly name?: string;
  readonly uid?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ready?: 'True' | 'False';
  /** Whether it is verified to isolate tenants. */
  readonly verified?: 'True' | 'False';
  readonly usedBy?: readonly string[];
  readonly sizeBytes?: number;
  readonly size?: string;
}

const store = (told: Told = {}): DataStore => {
  const {
    name = 'a',
    uid = '1',
    generation = 1,
    labels = {},
    ready = 'True',
    verified = 'True',
    usedBy = ['x/y'],
    sizeBytes = 1,
    size,
  } = told;
  const at = {
    reason: 'R',
    message: ready,
    observedGeneration: generation,
    lastTransitionTime: '2030-01-01T00:00:00Z',
  };
  const placement = { weight: 1, ...(size !== undefined && { capacity: { size } }) };
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name, uid, generation, labels }),
    spec: { driver: 'etcd', endpoints: ['a:2379'], placement },
    status: {
      usedBy,
      sizeBytes,
      conditions: [
        { type: 'Ready', status: ready, ...at },
        { ...verifiedIsolation, status: verified },
      ],
    },
  };
};

describe('A change of a DataStore', () => {
  test.each<[string, Told, Told, readonly string[]]>([
    ['its spec', {}, { generation: 2 }, ['placed', 'uses', 'waits']],
    ['whether it can be used', {}, { ready: 'False' }, ['placed', 'uses', 'waits']],
    ['whether it is verified', {}, { verified: 'False' }, ['placed', 'uses', 'waits']],
    ['its labels', {}, { labels: { tier: 'gold' } }, ['waits']],
    ['fewer users', {}, { usedBy: [] }, ['waits']],
    ['more users', {}, { usedBy: ['x/y', 'x/z'] }, []],
    ['fewer bytes, where they are limited', { size: '2' }, { size: '2', sizeBytes: 0 }, ['waits']],
    ['fewer bytes, where they are not', {}, { sizeBytes: 0 }, []],
    ['more bytes', { size: '2' }, { size: '2', sizeBytes: 2 }, []],
    ['another one of its name', {}, { uid: '2' }, ['placed', 'uses', 'waits']],
    ['nothing', {}, {}, []],
    ['the spec of one without tenants', { name: 'c' }, { name: 'c', generation: 2 }, ['waits']],
    ['the spec of the default', { name: 'fallback' }, { name: 'fallback', generation: 2 }, ['unnamed', 'waits']],
  ])('%s enqueues its users, and those that wait for a placement', (_what, old, now, names) => {
    expect(keysOf(dataStore.kind, store(old), store(now))).toEqual(names);
  });

  test('enqueues the tenants of another one that is drained, if they could not be moved so far', () => {
    further = [drained, stuck];
    expect(keysOf(dataStore.kind, store(), store({ usedBy: [] }))).toEqual(['stuck', 'waits']);
    further = [];
  });

  test('that is created or deleted enqueues both', () => {
    expect(keysOf(dataStore.kind, undefined, store())).toEqual(['placed', 'uses', 'waits']);
    expect(keysOf(dataStore.kind, store(), undefined)).toEqual(['placed', 'uses', 'waits']);
  });
});

describe('A change of a tenant', () => {
  test.each<[string, TenantControlPlane | undefined, TenantControlPlane | undefined, boolean]>([
    ['comes', undefined, uses, false],
    ['stays', uses, uses, false],
    ['gets a place', waits, { ...placed, metadata: waits.metadata }, false],
    ['goes', uses, undefined, true],
    ['goes before its place was on record', waits, undefined, true],
    ['names another store', uses, { ...elsewhere, metadata: uses.metadata }, true],
  ])('that %s enqueues those that wait if it may have freed room', (_what, old, now, wakes) => {
    expect(keysOf(tenantControlPlane.kind, old, now)).toEqual(wakes ? ['waits'] : []);
  });
});

describe('A change of a Gateway', () => {
  const gateway = (namespace?: string): object => ({
    hostname: 'a.example.org',
    parentRefs: [{ name: 'gw', namespace }],
  });
  const { controlPlane } = tenantControlPlaneWith().spec;
  const ready = { type: 'EndpointReady', status: 'True', reason: 'R', message: '', lastTransitionTime: '' } as const;
  const published = (name: string, by: object, conditions: readonly (typeof ready)[] = []): TenantControlPlane =>
    tenant(name, { controlPlane: { ...controlPlane, gateway: by } }, { conditions });
  const all = [
    uses,
    published('new', gateway()),
    published('done', gateway(), [ready]),
    published('far', gateway('b')),
  ];
  const watching = tenantControlPlaneWatches(listedInformers({ TenantControlPlane: () => all }), 'fallback').find(
    ({ kind }) => kind.kind === 'Gateway',
  );
  const object = (uid: string, namespace = 'default', name = 'gw'): Resource => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: storedMeta({ namespace, name, uid }),
  });

  test.each<[string, Resource | undefined, Resource | undefined, readonly string[]]>([
    ['that comes', undefined, object('1'), ['new', 'done']],
    ['that goes', object('1'), undefined, ['new', 'done']],
    ['that is created again', object('1'), object('2'), ['new', 'done']],
    ['that has one route more', object('1'), object('1'), ['new']],
    ['in another namespace', undefined, object('1', 'b'), ['far']],
    ['of another name', undefined, object('1', 'b', 'other'), []],
  ])(
    '%s enqueues the tenants with a route there, and those that wait if it still exists',
    (_words, old, now, names) => {
      expect(watching?.keys(old, now).map((key) => key.name)).toEqual(names);
    },
  );

  test('is watched if there is such a kind, with only the identity of the objects', () => {
    expect(watching).toMatchObject({ optional: true, identityOnly: true });
  });
});

test('A host name that is given up enqueues those that want it', () => {
  const by = (hostname: string): PublishedBy => ({ ingress: { hostname } });
  const named = (name: string, published: PublishedBy): TenantControlPlane => {
    const tcp = publishedTenant(published);
    return { ...tcp, metadata: { ...tcp.metadata, name } };
  };
  const [wants, other] = [named('wants', by('a.example.org')), named('other', by('b.example.org'))];
  const following = tenantControlPlaneWatches(listedInformers({ TenantControlPlane: () => [wants, other] }), '');
  const watch = following.find(({ kind }) => kind.kind === 'TenantControlPlane');
  const told = (old: TenantControlPlane | undefined, now: TenantControlPlane | undefined): readonly string[] =>
    (watch?.keys(old as never, now as never) ?? []).map(({ name }) => name);
  const has = named('has', by('a.example.org'));
  expect(told(has, undefined)).toEqual(['wants']);
  expect(told(has, named('has', by('c.example.org')))).toEqual(['wants']);
  expect(told(has, has)).toEqual([]);
  expect(told(undefined, has)).toEqual([]);
});

test('A PodDisruptionBudget that Steward did not create enqueues the control planes beside it with several pods', () => {
  const of = (name: string, replicas: number, namespace = 'default'): TenantControlPlane => {
    const tcp = tenantControlPlaneWith({ deployment: { replicas } });
    return { ...tcp, metadata: { ...tcp.metadata, name, namespace } };
  };
  const all = [of('many', 2), of('single', 1), of('elsewhere', 2, 'other')];
  const following = tenantControlPlaneWatches(listedInformers({ TenantControlPlane: () => all }), '');
  const watch = following.find(
    ({ kind, identityOnly }) => kind.kind === 'PodDisruptionBudget' && identityOnly === true,
  );
  const budget = (name: string, uid: string): Resource => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: storedMeta({ namespace: 'default', name, uid }),
  });
  const told = (old: Resource | undefined, now: Resource | undefined): readonly string[] =>
    (watch?.keys(old, now) ?? []).map(({ name }) => name);
  expect(told(undefined, budget('theirs', '1'))).toEqual(['many']);
  expect(told(budget('theirs', '1'), undefined)).toEqual(['many']);
  expect(told(budget('theirs', '1'), budget('theirs', '1'))).toEqual([]);
  expect(told(undefined, budget('many', '2'))).toEqual([]);
});

describe('A HorizontalPodAutoscaler', () => {
  const autoscaler = (more: {
    readonly uid?: string;
    readonly maxReplicas?: number;
    readonly status?: unknown;
  }): Resource =>
    ({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: storedMeta({
        namespace: 'default',
        name: 'uses',
        uid: more.uid ?? '1',
        labels: { 'steward.butlerlabs.dev/name': 'uses' },
      }),
      spec: { maxReplicas: more.maxReplicas ?? 3 },
      status: more.status,
    }) as Resource;
  const active = (status: string, reason: string, message: string): unknown => ({
    conditions: [{ type: 'ScalingActive', status, reason, message }],
  });
  const told = (old: unknown, now: unknown): readonly string[] => keysOf('HorizontalPodAutoscaler', old, now);

  test('enqueues its control plane when it comes, goes or is changed, and when it begins or ceases to scale', () => {
    const present = autoscaler({});
    expect(told(undefined, present)).toEqual(['uses']);
    expect(told(present, undefined)).toEqual(['uses']);
    expect(told(present, autoscaler({ uid: '2' }))).toEqual(['uses']);
    expect(told(present, autoscaler({ maxReplicas: 9 }))).toEqual(['uses']);
    expect(told(present, autoscaler({ status: active('False', 'FailedGetResourceMetric', '') }))).toEqual(['uses']);
  });

  test('enqueues nothing for the figures that it reports several times a minute', () => {
    const before = autoscaler({
      status: { ...(active('True', 'ValidMetricFound', 'a') as object), currentReplicas: 1 },
    });
    const after = autoscaler({
      status: { ...(active('True', 'ValidMetricFound', 'b') as object), currentReplicas: 2 },
    });
    expect(told(before, after)).toEqual([]);
  });
});

describe('A Namespace', () => {
  const namespace = (name: string, labels?: Record<string, string>): Resource => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: storedMeta({ name, labels }),
  });

  test('whose labels change enqueues its tenants, because DataStores may select by labels', () => {
    const [before, after] = [namespace('default', { a: 'b', c: 'd' }), namespace('default', { a: 'x' })];
    const all = ['elsewhere', 'placed', 'unnamed', 'uses', 'waits'];
    expect(keysOf('Namespace', before, after)).toEqual(all);
    expect(keysOf('Namespace', before, namespace('default'))).toEqual(all);
    expect(keysOf('Namespace', before, namespace('default', { c: 'd', a: 'b' }))).toEqual([]);
    expect(keysOf('Namespace', namespace('other'), namespace('other', { a: 'b' }))).toEqual([]);
    expect(keysOf('Namespace', undefined, after)).toEqual([]);
  });
});

test('a RetainedControlPlane enqueues the tenant of its name when it changes and when it is gone', () => {
  const retained = { apiVersion: '', kind: '', metadata: { name: 'default.waits' } };
  expect(keysOf('RetainedControlPlane', undefined, retained)).toEqual(['waits']);
  expect(keysOf('RetainedControlPlane', retained, undefined)).toEqual(['waits']);
});
