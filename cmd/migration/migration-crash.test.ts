import { describe, expect, jest, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { detached } from '../../runtime/detached.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { migrate } from '../../stores/migration/migrate.ts';
import { secretReader } from '../../stores/secret-reader.ts';
import { Sessions } from '../../stores/sessions.ts';
import { StoreAccess } from '../../stores/store-access.ts';
import { CrashError } from '../../testing/fake/fake-faults.ts';
import type { Call } from '../../testing/fake/fake-faults.ts';
import type { MemoryStore } from '../../testing/fake/memory-driver.ts';
import type { MemoryTenancy } from '../../testing/fake/memory-tenancy.ts';
import { MigrationWorld, storeLabel } from '../../testing/worlds/migration-world.ts';
import { settledWorlds } from '../../testing/worlds/settled-worlds.ts';
import { crashingCluster } from '../../testing/fake/crashing-cluster.ts';
import { runMigration } from './run-migration.ts';
import { crashPoints } from '../../testing/worlds/crash-points.ts';

// Each life of a manager is some thirty reconciles that send everything again.
jest.setTimeout(1_200_000);

const interesting = new Set(['Job', 'TenantControlPlane', 'Deployment', 'Pod', 'DataStore']);

/** Calls in which a migration shows: all that it writes, and what it decides upon. */
function matters({ kind, verb, name = '' }: Call): boolean {
  if (kind?.kind.startsWith('Validating')) return true;
  const writes = verb !== 'get' && verb !== 'list' && verb !== 'watch' && verb !== 'text';
  return (writes && (interesting.has(kind?.kind ?? '') || name.includes('datastore'))) || kind?.kind === 'Job';
}

/** A tenant that writes all the time, the manager, and the process of the Job with the real engine. */
class LivingWorld extends MigrationWorld {
  /** Every acknowledged write of the tenant. */
  readonly acknowledged = new Map<string, string>();
  /** Acknowledged writes that a user did not find later. */
  readonly missed = new Set<string>();
  /** The manager dies at this call of those that matter: it takes effect, but its answer never arrives. */
  managerDiesAt = Infinity;
  managerCalls = 0;
  /** The process dies after so many calls to the API server; once. */
  processDiesAfter = Infinity;
  processCalls = 0;
  #isDead = false;
  #writes = 0;
  #process: Promise<unknown> | undefined;

  constructor() {
    super();
    this.cluster.before(this.#beforeCall);
    this.cluster.after(this.#afterCall);
    this.tenant.before(this.#beforeCall);
    this.tenant.after(this.#afterCall);
    for (const store of [this.store, this.target]) {
      store.before = () => {
        this.#beforeCall({ verb: 'patch', kind: kinds.Job });
      };
    }
  }

  readonly #beforeCall = (call: Call): void => {
    if (this.#isDead) throw new CrashError('the manager is dead');
    if (!matters(call)) return;
    this.managerCalls += 1;
  };

  readonly #afterCall = (call: Call): void => {
    if (!matters(call) || this.managerCalls !== this.managerDiesAt || this.#isDead) return;
    this.#isDead = true;
    throw new CrashError('the manager died before the answer');
  };

  /** The data that is in use, as the status says. */
  async inUse(): Promise<MemoryTenancy> {
    const { storage } = (await this.read()).status ?? {};
    return storeOf(this, storage?.dataStoreName).dataOf(storage?.setup?.schema ?? '');
  }

  /** What the tenant's users do: they write unless an API server or the store denies it, or no API server is reached. */
  async #write(): Promise<void> {
    if (await this.frozen()) return;
    const [reached] = await this.reached();
    if (reached === undefined) return;
    const store = storeOf(this, reached);
    const data = store.dataOf(store.tenancies.keys().next().value ?? '');
    const read = new Map(data.texts());
    for (const [key, value] of this.acknowledged) {
      if (read.get(key) !== value) this.missed.add(`${key} is not ${value} in ${reached}`);
    }
    this.#writes += 1;
    const [key, value] = [`configmaps/default/a${this.#writes % 2}`, String(this.#writes)];
    try {
      data.tenantWrites({ is: 'put', entry: { key, value: Buffer.from(value) } });
      this.acknowledged.set(key, value);
    } catch {
      // Denied by the fence, with an error for the user.
    }
  }

  /** What the kubelet does: it starts the process of the Job again as long as that has not ended well. */
  async #keepRunning(): Promise<void> {
    const job = await this.job();
    if (job === undefined || this.#process !== undefined) return;
    const mortal = crashingCluster(this.cluster.admin);
    if (this.processDiesAfter !== Infinity) mortal.crashAfter(this.processDiesAfter);
    this.processDiesAfter = Infinity;
    const stop = new AbortController();
    const stores = new StoreAccess({
      drivers: [this.store.driver, this.target.driver],
      sessions: new Sessions({ clock: this.clock }),
      read: secretReader((key) => this.cluster.admin.get(kinds.Secret, key)),
    });
    const { name, namespace } = (await this.read()).metadata;
    this.#process = runMigration(
      {
        tenant: { namespace, name },
        target: 'other',
        operatorNamespace: 'steward-system',
        cleanup: false,
        timeoutMs: 3_600_000,
      },
      { cluster: mortal, stores, clock: this.clock, log: silent, migrate, signal: stop.signal },
    ).then(
      () => 'ended',
      (error: unknown) => {
        // The container is started again; nothing that it left running arrives anymore.
        mortal.crashAfter(0);
        this.#process = undefined;
        return error;
      },
    );
    this.processCalls = 0;
    const counted = this.#process.then(() => {
      this.processCalls = mortal.calls;
    });
    detached(counted, silent, 'counting calls');
  }

  /** Everybody at work, until the migration has ended. */
  async live(): Promise<string> {
    for (let turn = 0; turn < 400; turn += 1) {
      await this.#write();
      await this.#keepRunning();
      await this.reconcile();
      await this.#write();
      if (this.#isDead) {
        this.#isDead = false;
        this.managerDiesAt = Infinity;
        this.restart();
      }
      await this.clock.advance(200);
      const migration = (await this.read()).status?.storage?.migration;
      if (migration?.finishedAt !== undefined) return migration.phase;
    }
    throw new Error(`the migration does not end: ${JSON.stringify(await this.record())}`);
  }
}

function storeOf(world: MigrationWorld, name: string | undefined): MemoryStore {
  return name === 'other' ? world.target : world.store;
}

type Minor = 'can deny writes' | 'cannot deny writes';

const versions = { 'can deny writes': 'v1.36.3', 'cannot deny writes': 'v1.29.15' } as const;

const settled = (minor: Minor): (() => Promise<LivingWorld>) =>
  settledWorlds(
    () => new LivingWorld(),
    (world) => world.running({ kubernetes: { version: versions[minor] } }),
  );

const running = {
  'can deny writes': settled('can deny writes'),
  'cannot deny writes': settled('cannot deny writes'),
} as const;

async function moving(minor: Minor): Promise<LivingWorld> {
  const world = await running[minor]();
  const data = await world.inUse();
  for (let at = 0; at < 12; at += 1) {
    const entry = { key: `secrets/default/s${at}`, value: Buffer.from(`value ${at}`) };
    data.tenantWrites({ is: 'put', entry });
    world.acknowledged.set(entry.key, `value ${at}`);
  }
  await world.moveTo('other');
  world.managerCalls = 0;
  return world;
}

/** In every case no acknowledged write is lost, and the tenant is used as before. */
async function expectWhole(world: LivingWorld): Promise<void> {
  expect([...world.missed]).toEqual([]);
  const data = await world.inUse();
  expect(Object.fromEntries(data.texts())).toEqual(Object.fromEntries(world.acknowledged));
  expect(data.fenced).toBe(false);
  expect(await world.frozen()).toBe(false);
  await world.settle();
  expect(await world.state()).toBe('Ready');
  expect(await world.job()).toBeUndefined();
  const { storage } = (await world.read()).status ?? {};
  const owned = [world.store, world.target].flatMap(({ tenancies }) => [...tenancies.keys()]);
  expect(owned).toHaveLength(1 + (storage?.previous ?? []).length);
}

describe.each<Minor>(['can deny writes', 'cannot deny writes'])(
  'A migration with the real engine, of a tenant whose API servers %s,',
  (minor) => {
    test('loses nothing while the tenant writes', async () => {
      const world = await moving(minor);
      expect(await world.live()).toBe('Succeeded');
      expect(world.acknowledged.size).toBe(14);
      await expectWhole(world);
    });

    test('loses nothing if it is canceled at any moment', async () => {
      for (const phase of ['Preparing', 'StoppingWrites', 'Finishing', 'Switching'] as const) {
        const world = await moving(minor);
        const taken = world.cluster.after(async ({ kind, verb, subresource }) => {
          if (kind?.kind !== 'TenantControlPlane' || verb !== 'patch' || subresource !== 'status') return;
          if ((await world.record().catch(() => undefined))?.phase !== phase) return;
          taken();
          await world.moveTo('default');
        });
        expect([phase, await world.live()]).toEqual([phase, 'Cancelled']);
        await expectWhole(world);
      }
    });

    test('loses nothing if it is canceled when pods serve on the target', async () => {
      const world = await moving(minor);
      const taken = world.cluster.after(async ({ kind, verb }) => {
        if (kind?.kind !== 'Deployment' || verb !== 'apply') return;
        const pods = await world.pods();
        if (!pods.some(({ metadata }) => metadata.labels?.[storeLabel] === 'other')) return;
        taken();
        await world.moveTo('default');
      });
      expect(await world.live()).toBe('Cancelled');
      await expectWhole(world);
    });

    test('loses nothing if the manager dies after any call', async () => {
      const model = await moving(minor);
      await model.live();
      const total = model.managerCalls;
      expect(total).toBeGreaterThan(30);
      for (const call of crashPoints(total, `manager in a migration, ${minor}`)) {
        const world = await moving(minor);
        world.managerDiesAt = call;
        const end = await world.live();
        expect([call, end]).toEqual([call, 'Succeeded']);
        await expectWhole(world);
      }
    });

    test('loses nothing if its process dies after any call', async () => {
      const model = await moving(minor);
      await model.live();
      const total = model.processCalls;
      expect(total).toBeGreaterThan(10);
      for (const call of crashPoints(total, `process of a migration, ${minor}`)) {
        const world = await moving(minor);
        world.processDiesAfter = call;
        const end = await world.live();
        expect([call, end]).toEqual([call, 'Succeeded']);
        await expectWhole(world);
      }
    });
  },
);
