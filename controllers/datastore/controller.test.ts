import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../api/as-stored.ts';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Resource } from '../../api/meta.ts';
import type { DataStore, DataStoreStatus } from '../../api/steward/v1alpha1/data-store.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context, Controller } from '../../runtime/reconcile/controller.ts';
import { silent } from '../../runtime/observe/logger.ts';
import type { ServerState, Session } from '../../stores/driver.ts';
import { etcdDriver } from '../../stores/etcd/driver.ts';
import type { IsolationVerdict } from '../../stores/isolation/verify-isolation.ts';
import { StoreError } from '../../stores/store-error.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { dataStoreController } from './controller.ts';

const reference = (keyPath: string) => ({
  secretReference: { name: 'etcd-certs', namespace: 'steward-system', keyPath },
});

function newStore(over: Partial<DataStore> = {}): DataStore {
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name: 'default', generation: 3 }),
    spec: {
      driver: 'etcd',
      endpoints: ['etcd-0:2379'],
      tlsConfig: {
        certificateAuthority: { certificate: reference('ca.crt'), privateKey: reference('ca.key') },
        clientCertificate: { certificate: reference('tls.crt'), privateKey: reference('tls.key') },
      },
    },
    ...over,
  };
}

interface More {
  readonly spec?: object;
  readonly status?: object;
}

/** The part of a TenantControlPlane that this controller reads. */
function tenant(name: string, dataStoreName?: string, more: More = {}): TenantControlPlane {
  const object: Resource & { readonly spec: object; readonly status?: unknown } = {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: storedMeta({ name, namespace: 'tenants' }),
    ...more,
    spec: { ...more.spec },
    ...(dataStoreName !== undefined && { status: { storage: { dataStoreName, setup: { schema: 'x' } } } }),
  };
  return object as TenantControlPlane;
}

class Rig {
  readonly clock = new FakeClock();
  readonly events: string[] = [];
  tenants: readonly TenantControlPlane[] = [];
  /** Those that another process looks after. */
  elsewhere: readonly TenantControlPlane[] = [];
  /** Deleted ones whose data is retained. */
  retained: readonly TenantControlPlane[] = [];
  /** Objects whose data may be anywhere. */
  unknown: readonly string[] = [];
  readonly namespace: string;
  checksum = 'one';
  openError: Error | undefined;
  answer: ServerState | Error = { version: '3.6.16', supported: true, floor: '3.6.14' };
  pings = 0;
  compactionPublished = 0;
  publishingFails: Error | undefined;
  verifications = 0;
  verdict: IsolationVerdict | Error = { attempts: 90 };
  readonly controller: Controller<DataStore>;

  constructor(namespace = '') {
    this.namespace = namespace;
    this.controller = dataStoreController({
      memory: new ObjectMemory(),
      clock: this.clock,
      tenants: () => this.tenants,
      allTenants: () => {
        const { elsewhere, retained, unknown } = this;
        return Promise.resolve({ tenants: [...this.tenants, ...elsewhere, ...retained], retained, unknown });
      },
      defaultDataStore: 'fallback',
      namespace: this.namespace,
      isolationIntervalMs: 3_600_000,
      stores: {
        open: () =>
          this.openError === undefined
            ? Promise.resolve({
                checksum: this.checksum,
                capabilities: etcdDriver.capabilities,
                probe: (work) => work(this.#session()),
                verifyIsolation: () => this.#verify(),
              })
            : Promise.reject(this.openError),
      },
    });
  }

  async reconcile(store: DataStore): Promise<{ readonly store: DataStore; readonly afterMs: number | undefined }> {
    const result = await this.controller.reconcile(store, this.context());
    return { store: { ...store, status: result.status ?? {} }, afterMs: result.afterMs };
  }

  context(): Context {
    return {
      signal: new AbortController().signal,
      now: this.clock.now(),
      log: silent,
      event: (type, reason, message) => void this.events.push(`${type} ${reason}: ${message}`),
    };
  }

  /** Notes the verification and gives its result. */
  async #verify(): Promise<IsolationVerdict> {
    this.verifications += 1;
    const { verdict } = this;
    if (verdict instanceof Error) throw verdict;
    return Promise.resolve(verdict);
  }

  #session(): Session {
    return {
      ping: () => {
        this.pings += 1;
        return this.answer instanceof Error ? Promise.reject(this.answer) : Promise.resolve(this.answer);
      },
      publishCompaction: () => {
        this.compactionPublished += 1;
        return this.publishingFails === undefined ? Promise.resolve() : Promise.reject(this.publishingFails);
      },
      ensure: () => Promise.reject(new Error('changes nothing')),
      remove: () => Promise.reject(new Error('changes nothing')),
      measure: () => Promise.reject(new Error('measures no tenancy')),
      countWrites: () => Promise.reject(new Error('measures no tenancy')),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
}

const conditions = (status: DataStoreStatus | undefined): readonly string[] =>
  (status?.conditions ?? []).map(({ type, status: value, reason }) => `${type}=${value} ${reason}`);

test('A verdict on isolation is reported until the API server has taken it, and not again', async () => {
  const rig = new Rig();
  const store = newStore();
  const verdictIn = (status: DataStoreStatus | null | undefined): unknown => status?.isolation;
  const refused = await rig.controller.reconcile(store, rig.context());
  const taken = await rig.controller.reconcile(store, rig.context());
  expect(verdictIn(taken.status)).toEqual(verdictIn(refused.status));
  expect(verdictIn(taken.status)).toMatchObject({ attempts: 90 });
  taken.stored?.(store);
  expect(verdictIn((await rig.controller.reconcile(store, rig.context())).status)).toBeUndefined();
  expect(rig.verifications).toBe(1);
});

describe('A DataStore that is drained', () => {
  const drained = newStore();
  const store: DataStore = { ...drained, spec: { ...drained.spec, drain: { keep: 0, previousCopies: 'Retain' } } };

  test('reports its progress as status, condition and Event, and none of them afterwards', async () => {
    const rig = new Rig();
    rig.tenants = [tenant('a', 'default')];
    const first = await rig.reconcile(store);
    expect(first.store.status?.drain).toEqual({ remaining: 1, copies: 0 });
    expect(conditions(first.store.status)).toContain('Drained=False Draining');
    rig.tenants = [];
    const second = await rig.reconcile(first.store);
    expect(conditions(second.store.status)).toContain('Drained=True Drained');
    expect(rig.events.filter((event) => event.includes('rain'))).toEqual([
      'Normal Draining: 1 tenant is left',
      'Normal Drained: no tenants are left',
    ]);
    const third = await rig.reconcile({ ...drained, status: second.store.status ?? {} });
    expect(third.store.status?.drain).toBeUndefined();
    expect(conditions(third.store.status).filter((line) => line.startsWith('Drained'))).toEqual([]);
  });

  test('reports its progress while it is being deleted', async () => {
    const rig = new Rig();
    rig.tenants = [tenant('a', 'default'), tenant('b', 'default')];
    const before = (await rig.reconcile(store)).store;
    rig.tenants = [tenant('a', 'default')];
    const last = await rig.controller.finalize?.(before, rig.context());
    const status = last?.finished === false ? last.status : undefined;
    expect(status?.drain?.remaining).toBe(1);
    expect(conditions(status)).toEqual(expect.arrayContaining(['Drained=False Draining', 'Deleting=True InUse']));
  });

  test('is reconciled when a tenant of it gets further', () => {
    const [watch] = new Rig().controller.watches;
    const drain = { from: 'default', named: 'default', dataStoreName: 'other' };
    const before = tenant('a', 'default');
    const at = (storage: object) => ({ ...before, status: { storage: { ...before.status?.storage, ...storage } } });
    const keys = (old: Resource, now: Resource) => watch?.keys(old, now).map(({ name }) => name);
    expect(keys(before, at({ drain: { from: 'default', named: 'default', message: 'full' } }))).toEqual(['default']);
    expect(
      keys(
        at({ drain }),
        at({
          drain,
          migration: { phase: 'Copying', source: { dataStoreName: 'default' }, target: { dataStoreName: 'other' } },
        }),
      ),
    ).toContain('default');
    expect(keys(before, at({ driver: 'etcd' }))).toEqual([]);
  });
});

describe('A reconcile of a DataStore', () => {
  test('reports that it can be used, its version, and who uses it', async () => {
    const rig = new Rig();
    rig.tenants = [
      tenant('b', 'default'),
      tenant('a', 'default'),
      tenant('b', 'default'),
      tenant('c', 'other'),
      tenant('d'),
    ];
    const { store, afterMs } = await rig.reconcile(newStore());
    expect(store.status).toMatchObject({
      ready: true,
      serverVersion: '3.6.16',
      observedGeneration: 3,
      usedBy: ['tenants/a', 'tenants/b'],
    });
    expect(conditions(store.status)).toEqual([
      'Reachable=True Reachable',
      'Authorized=True Authorized',
      'VersionSupported=True Supported',
      'Ready=True Ready',
      'IsolationVerified=True Verified',
    ]);
    expect(store.status?.conditions?.every(({ observedGeneration }) => observedGeneration === 3)).toBe(true);
    expect(afterMs).toBe(15_000);
    expect(rig.events).toEqual([
      'Normal Ready: the datastore can be used, version 3.6.16',
      expect.stringMatching(/^Normal IsolationVerified: version 3\.6\.16 refused all 90 attempts at /),
    ]);
  });

  test('counts tenants whose tenancy is about to be created, each once, and none that waits for another datastore', async () => {
    const rig = new Rig();
    const placed = { status: { storage: { placement: { dataStoreName: 'default' } } } };
    const moving = {
      spec: { dataStore: 'default' },
      status: { storage: { dataStoreName: 'old', setup: { schema: 'x' } } },
    };
    rig.tenants = [
      tenant('placed', undefined, placed),
      tenant('named', undefined, { spec: { dataStore: 'default' } }),
      tenant('events', undefined, { spec: { dataStoreOverrides: [{ resource: '/events', dataStore: 'default' }] } }),
      tenant('moving', undefined, moving),
      tenant('waits', undefined, { spec: { dataStoreSelector: {} } }),
      tenant('elsewhere', undefined, { spec: { dataStore: 'other' } }),
    ];
    const reconciled = await rig.reconcile(newStore());
    expect(reconciled.store.status?.usedBy).toEqual([
      'tenants/events',
      'tenants/moving',
      'tenants/named',
      'tenants/placed',
    ]);
    rig.tenants = [tenant('unnamed'), tenant('waits', undefined, { spec: { dataStoreSelector: {} } })];
    const fallback = await rig.reconcile(newStore({ metadata: storedMeta({ name: 'fallback', generation: 1 }) }));
    expect(fallback.store.status?.usedBy).toEqual(['tenants/unnamed']);
  });

  test('reports how many tenants it holds and how many more it accepts', async () => {
    const rig = new Rig();
    rig.tenants = [tenant('a', 'default'), tenant('b', 'default')];
    const spec = (placement?: DataStore['spec']['placement']): Partial<DataStore> => ({
      spec: { ...newStore().spec, ...(placement !== undefined && { placement }) },
    });
    const of = async (placement?: DataStore['spec']['placement']) =>
      (await rig.reconcile(newStore(spec(placement)))).store.status;
    expect(await of({ weight: 1, capacity: { tenants: 5 } })).toMatchObject({ tenants: 2, availableTenants: 3 });
    expect(await of({ weight: 1, capacity: { tenants: 1 } })).toMatchObject({ tenants: 2, availableTenants: 0 });
    const before = { tenants: 2, availableTenants: 3 };
    const { store } = await rig.reconcile(newStore({ ...spec(), status: before }));
    expect(store.status).toMatchObject({ tenants: 2 });
    expect(store.status).not.toHaveProperty('availableTenants');
  });

  test('reports its size, and again only when that has changed by more than one percent', async () => {
    const rig = new Rig();
    const megabyte = 2 ** 20;
    let store = newStore();
    const sizes: (number | undefined)[] = [];
    for (const sizeBytes of [undefined, 1000, 500 * megabyte, 504 * megabyte, 506 * megabyte, undefined, 2000]) {
      rig.answer = { version: '3.6.16', supported: true, floor: '', sizeBytes };
      ({ store } = await rig.reconcile(store));
      sizes.push(store.status?.sizeBytes);
      await rig.clock.advance(15_000);
    }
    const [grown, more] = [500 * megabyte, 506 * megabyte];
    expect(sizes).toEqual([undefined, 1000, grown, grown, more, more, 2000]);
  });

  test.each<[string, NonNullable<DataStore['spec']['placement']>['capacity']]>([
    ['tenants', { tenants: 2 }],
    ['bytes', { size: '1Gi' }],
  ])('creates an Event when it is full of %s, and no other one before there was room', async (_what, capacity) => {
    const rig = new Rig();
    const full = (is: boolean): void => {
      rig.tenants = [tenant('a', 'default'), ...(is ? [tenant('b', 'default')] : [])];
      rig.answer = { version: '3.6.16', supported: true, floor: '', sizeBytes: is ? 2 ** 30 : 2 ** 29 };
    };
    let store = newStore({ spec: { ...newStore().spec, placement: { weight: 1, capacity } } });
    for (const is of [false, true, true, false, true]) {
      full(is);
      ({ store } = await rig.reconcile(store));
      await rig.clock.advance(15_000);
    }
    const told = rig.events.filter((event) => event.startsWith('Warning Full'));
    expect(told).toHaveLength(2);
    expect(told[0]).toMatch(
      /^Warning Full: the datastore holds .* of .*; no more tenants are placed here: raise spec.placement.capacity/,
    );
  });

  test('reports warnings of the server although it works', async () => {
    const rig = new Rig();
    rig.answer = { version: '3.6.16', supported: true, floor: '', notes: ['etcd-1:2379: has no leader'] };
    const { store } = await rig.reconcile(newStore());
    expect(store.status?.conditions?.[0]?.message).toBe('etcd-1:2379: has no leader');
  });

  test('publishes the compaction with each check, and can be used while that fails', async () => {
    const rig = new Rig();
    rig.answer = { version: '3.6.16', supported: true, floor: '', notes: ['etcd-1:2379 has no leader'] };
    rig.publishingFails = new StoreError('Failed', 'etcd could not write compact_rev_key');
    const { store } = await rig.reconcile(newStore());
    expect(store.status).toMatchObject({ ready: true });
    expect(store.status?.conditions?.[0]?.message).toBe(
      'etcd-1:2379 has no leader; etcd could not write compact_rev_key',
    );
    await rig.clock.advance(15_000);
    rig.publishingFails = undefined;
    const after = await rig.reconcile(store);
    expect(after.store.status?.conditions?.[0]?.message).toBe('etcd-1:2379 has no leader');
    expect(rig.compactionPublished).toBe(2);
  });

  test.each([
    [
      'Unreachable',
      [
        'Reachable=False Unreachable',
        'Authorized=Unknown NotReported',
        'VersionSupported=Unknown NotReported',
        'Ready=False Unreachable',
      ],
    ],
    [
      'Unauthorized',
      [
        'Reachable=True Reachable',
        'Authorized=False Unauthorized',
        'VersionSupported=Unknown NotReported',
        'Ready=False Unauthorized',
      ],
    ],
    [
      'Failed',
      [
        'Reachable=False Failed',
        'Authorized=Unknown NotReported',
        'VersionSupported=Unknown NotReported',
        'Ready=False Failed',
      ],
    ],
    [
      'Unsupported',
      [
        'Reachable=Unknown NotReported',
        'Authorized=Unknown NotReported',
        'VersionSupported=False Unsupported',
        'Ready=False Unsupported',
      ],
    ],
    [
      'CredentialsInvalid',
      [
        'Reachable=Unknown NotReported',
        'Authorized=False CredentialsInvalid',
        'VersionSupported=Unknown NotReported',
        'Ready=False CredentialsInvalid',
      ],
    ],
    ...(['SingleTenant', 'OwnedByAnother', 'InvalidName'] as const).map(
      (reason) =>
        [
          reason,
          [
            'Reachable=False Failed',
            'Authorized=Unknown NotReported',
            'VersionSupported=Unknown NotReported',
            'Ready=False Failed',
          ],
        ] as const,
    ),
  ] as const)(
    'reports that the datastore is %s, with a message, and keeps the version seen before',
    async (reason, expected) => {
      const rig = new Rig();
      rig.answer = new StoreError(reason, 'what was seen');
      const { store } = await rig.reconcile(newStore({ status: { serverVersion: '3.6.16' } }));
      expect(conditions(store.status)).toEqual(expected);
      expect(store.status).toMatchObject({ ready: false, serverVersion: '3.6.16' });
      const told = expected.at(-1)?.split(' ')[1] ?? '';
      expect(rig.events).toEqual([expect.stringMatching(new RegExp(`^Warning ${told}: .*what was seen`))]);
    },
  );

  test('reports missing credentials', async () => {
    const rig = new Rig();
    rig.openError = new StoreError('CredentialsMissing', 'spec.tlsConfig.x is not set');
    const { store } = await rig.reconcile(newStore());
    expect(conditions(store.status)).toContain('Authorized=False CredentialsMissing');
    expect(rig.pings).toBe(0);
  });

  test('reports a server below the required version as unsupported, with that version', async () => {
    const rig = new Rig();
    rig.answer = { version: '3.5.12', supported: false, floor: '3.6.14' };
    const { store } = await rig.reconcile(newStore());
    expect(conditions(store.status)).toContain('VersionSupported=False Unsupported');
    const message = store.status?.conditions?.find(({ type }) => type === 'Ready')?.message;
    expect(message).toMatch(/3\.5\.12.*3\.6\.14/);
  });

  test('does not change the status if the management cluster does not answer', async () => {
    const rig = new Rig();
    rig.openError = new Error('no API server');
    await expect(rig.reconcile(newStore())).rejects.toThrow('no API server');
  });
});

describe('The check of a datastore', () => {
  test('runs every 15 seconds, however often the object is reconciled, and at once when the configuration has changed', async () => {
    const rig = new Rig();
    await rig.reconcile(newStore());
    await rig.clock.advance(5_000);
    expect((await rig.reconcile(newStore())).afterMs).toBe(10_000);
    expect(rig.pings).toBe(1);
    rig.checksum = 'two';
    await rig.reconcile(newStore());
    expect(rig.pings).toBe(2);
    await rig.clock.advance(15_000);
    await rig.reconcile(newStore());
    expect(rig.pings).toBe(3);
  });

  test('is retried with growing delays up to ten seconds', async () => {
    const rig = new Rig();
    rig.answer = new StoreError('Unreachable', 'x');
    const pauses: (number | undefined)[] = [];
    for (let round = 0; round < 6; round += 1) {
      const { afterMs = 0 } = await rig.reconcile(newStore());
      pauses.push(afterMs);
      await rig.clock.advance(afterMs);
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000]);
  });

  test('creates an Event only when something changes', async () => {
    const rig = new Rig();
    let { store } = await rig.reconcile(newStore());
    rig.answer = new StoreError('Unreachable', 'x');
    for (let round = 0; round < 3; round += 1) {
      await rig.clock.advance(15_000);
      ({ store } = await rig.reconcile(store));
    }
    expect(rig.events).toHaveLength(3);
  });
});

describe('The watches of DataStores', () => {
  const [tenants, secrets] = new Rig().controller.watches;

  test('cause reconciles of both datastores when a tenant is migrated, and of none while it stays', () => {
    expect(tenants?.keys(tenant('a', 'old'), tenant('a', 'new'))).toEqual([{ name: 'old' }, { name: 'new' }]);
    expect(tenants?.keys(tenant('a', 'old'), undefined)).toEqual([{ name: 'old' }]);
    expect(tenants?.keys(undefined, tenant('a', 'new'))).toEqual([{ name: 'new' }]);
    expect(tenants?.keys(tenant('a', 'same'), tenant('a', 'same'))).toEqual([]);
    expect(tenants?.keys(undefined, tenant('a', undefined, { spec: { dataStoreSelector: {} } }))).toEqual([]);
    expect(tenants?.keys(undefined, tenant('a'))).toEqual([{ name: 'fallback' }]);
    const placed = { status: { storage: { placement: { dataStoreName: 'chosen' } } } };
    expect(tenants?.keys(undefined, tenant('a', undefined, placed))).toEqual([{ name: 'chosen' }]);
  });

  test('cause a reconcile when a Secret of the datastore changes, and cache only the identity of Secrets', async () => {
    const rig = new Rig();
    const secret = (name: string): Resource => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: storedMeta({ name, namespace: 'steward-system' }),
    });
    const watch = rig.controller.watches.find(({ kind }) => kind.kind === kinds.Secret.kind);
    expect(watch?.keys(undefined, secret('etcd-certs'))).toEqual([]);
    await rig.reconcile(newStore());
    expect(watch?.keys(undefined, secret('etcd-certs'))).toEqual([{ name: 'default' }]);
    expect(watch?.keys(secret('etcd-certs'), undefined)).toEqual([{ name: 'default' }]);
    expect(watch?.keys(undefined, secret('other'))).toEqual([]);
    expect(secrets?.identityOnly).toBe(true);
  });
});

describe('Two managers of one namespace each', () => {
  const inNamespace = (namespace: string, name: string): TenantControlPlane => {
    const tcp = tenant(name, 'default');
    return { ...tcp, metadata: { ...tcp.metadata, namespace } };
  };

  test('report their own tenants and keep those of the other', async () => {
    const [a, b] = [new Rig('a'), new Rig('b')];
    a.tenants = [inNamespace('a', 'x')];
    b.tenants = [inNamespace('b', 'x'), inNamespace('b', 'y')];
    let store = newStore();
    const users: string[] = [];
    const both = async (): Promise<void> => {
      for (const manager of [a, b]) {
        ({ store } = await manager.reconcile(store));
        users.push(store.status?.usedBy?.join() ?? '');
      }
    };
    await both();
    await both();
    b.tenants = [inNamespace('b', 'y')];
    a.tenants = [];
    await both();
    expect(users).toEqual(['a/x', 'a/x,b/x,b/y', 'a/x,b/x,b/y', 'a/x,b/x,b/y', 'b/x,b/y', 'b/y']);
  });

  test('keep a datastore that is being deleted for the tenants of both, and not for stale entries in the status', async () => {
    const rig = new Rig('a');
    rig.elsewhere = [inNamespace('b', 'x')];
    const left = newStore({ status: { usedBy: ['b/x', 'c/gone'] } });
    const waiting = await rig.controller.finalize?.(left, rig.context());
    expect(waiting).toMatchObject({ finished: false, afterMs: 60_000, status: { usedBy: ['b/x'] } });
    rig.elsewhere = [];
    expect(await rig.controller.finalize?.(left, rig.context())).toEqual({ finished: true });
  });
});

describe('The deletion of a DataStore', () => {
  test('waits while tenants have their data in the datastore, and names them', async () => {
    const rig = new Rig();
    rig.tenants = [tenant('a', 'default')];
    const result = await rig.controller.finalize?.(newStore(), rig.context());
    expect(result?.finished).toBe(false);
    expect(result?.afterMs).toBe(60_000);
    expect(conditions(result?.status)).toEqual(['Deleting=True InUse']);
    expect(rig.events).toEqual([expect.stringMatching(/^Warning InUse: .*tenants\/a.*delete these/)]);
  });

  test('waits while data is retained in the datastore, and names the RetainedControlPlane, not a TenantControlPlane', async () => {
    const rig = new Rig();
    rig.retained = [tenant('a', 'default')];
    const result = await rig.controller.finalize?.(newStore(), rig.context());
    expect(result).toMatchObject({ finished: false, status: { usedBy: ['tenants/a'] } });
    expect(rig.events).toEqual([
      expect.stringMatching(
        /^Warning InUse: .*it holds retained data, that of RetainedControlPlane tenants\.a: delete it/,
      ),
    ]);
    expect(rig.events[0]).not.toContain('these TenantControlPlanes');
  });

  test('waits while it is unknown whether there is data in the datastore, and says why', async () => {
    const rig = new Rig();
    rig.unknown = ['StewardControlPlane a/b (broken)'];
    const result = await rig.controller.finalize?.(newStore(), rig.context());
    expect(result?.finished).toBe(false);
    expect(conditions(result?.status)).toEqual(['Deleting=True InUse']);
    expect(rig.events).toEqual([expect.stringContaining('StewardControlPlane a/b (broken)')]);
  });

  test('is finished when no tenant uses it, even if the datastore is broken', async () => {
    const rig = new Rig();
    rig.openError = new StoreError('CredentialsMissing', 'x');
    expect(await rig.controller.finalize?.(newStore(), rig.context())).toEqual({ finished: true });
  });
});
