import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { DataStore, DataStoreStatus } from '../../../api/steward/v1alpha1/data-store.ts';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { setConditions } from '../../../runtime/reconcile/conditions.ts';
import type { IsolationVerdict } from '../../../stores/isolation/verify-isolation.ts';
import { natsDriver } from '../../../stores/nats/driver.ts';
import { StoreError } from '../../../stores/store-error.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import type { ProbedStore } from '../dependencies.ts';
import { Verifications } from './verifications.ts';

const hourMs = 3_600_000;

/** Reconciles DataStores whose servers answer, with or without a verdict. */
class Rig {
  readonly clock = new FakeClock();
  readonly events: string[] = [];
  /** Identities of the verified datastores, as their canaries are named after them. */
  readonly verified: string[] = [];
  verdict: IsolationVerdict | Error = { attempts: 90 };
  checksum = 'one';
  version = '3.6.16';
  reachable = true;
  /** True when the time of a reconcile is over during the verification. */
  aborted = false;
  /** Waited for by every verification. */
  gate: Promise<unknown> = Promise.resolve();
  #verifications: Verifications;
  readonly #options: { readonly intervalMs: number; readonly namespace: string };

  constructor({ intervalMs = hourMs, namespace = '' } = {}) {
    this.#options = { intervalMs, namespace };
    this.#verifications = this.#started();
  }

  /** A new process of the manager. */
  restart(): void {
    this.#verifications = this.#started();
  }

  /** False: the API server refuses the status of the next reconciles. */
  takesStatus = true;

  async reconcile(store: DataStore): Promise<{ readonly store: DataStore; readonly afterMs: number }> {
    const found = this.reachable ? ('True' as const) : ('False' as const);
    const stated = (['Reachable', 'Authorized', 'Ready'] as const).map((type) => ({
      ...{ type, status: found, reason: type, message: '' },
    }));
    const at = { generation: store.metadata.generation, now: this.clock.now() };
    const status: DataStoreStatus = {
      conditions: setConditions(store.status?.conditions ?? [], stated, at),
      serverVersion: this.version,
      ready: this.reachable,
    };
    const result = await this.#verifications.after(
      store,
      { status, afterMs: 15_000 },
      { open: () => Promise.resolve(this.#opened()), ctx: this.#context() },
    );
    if (!this.takesStatus) return { store, afterMs: result.afterMs };
    const stored = { ...store, status: result.status };
    result.stored?.(stored);
    return { store: stored, afterMs: result.afterMs };
  }

  #started(): Verifications {
    return new Verifications({ clock: this.clock, memory: new ObjectMemory(), ...this.#options });
  }

  #opened(): ProbedStore {
    return {
      checksum: this.checksum,
      capabilities: natsDriver.capabilities,
      probe: () => Promise.reject(new Error('not asked')),
      verifyIsolation: async ({ id }) => {
        this.verified.push(id);
        await this.gate;
        if (this.verdict instanceof Error) throw this.verdict;
        return this.verdict;
      },
    };
  }

  #context(): Context {
    return {
      signal: this.aborted ? AbortSignal.abort() : new AbortController().signal,
      now: this.clock.now(),
      log: silent,
      event: (type, reason, message) => void this.events.push(`${type} ${reason}: ${message}`),
    };
  }
}

/** One whose tenants have accounts of their own, unless its spec is another. */
function storeNamed(name: string, { generation = 1, nats = true } = {}): DataStore {
  const spec = {
    driver: 'NATS',
    endpoints: ['nats:4222'],
    ...(nats && { nats: { operatorKey: {}, systemCredentials: {}, replicas: 1, storagePerTenant: '1Gi' } }),
  } as const;
  const metadata = storedMeta({ name, generation, uid: `uid of ${name}` });
  return { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'DataStore', metadata, spec };
}

const verdictOf = ({ status }: DataStore): string => {
  const found = status?.conditions?.find(({ type }) => type === 'IsolationVerified');
  return found === undefined ? 'absent' : `${found.status} ${found.reason}: ${found.message}`;
};

describe('A DataStore', () => {
  test('is verified when it is added, and says version, attempts and time', async () => {
    const rig = new Rig();
    const { store } = await rig.reconcile(storeNamed('a'));
    const time = rig.clock.now().toISOString().replace('.000', '');
    expect(verdictOf(store)).toBe(`True Verified: version 3.6.16 refused all 90 attempts at ${time}`);
    expect(store.status?.isolation).toEqual({ time, serverVersion: '3.6.16', attempts: 90 });
    expect(rig.events).toEqual([expect.stringMatching(/^Normal IsolationVerified: /)]);
  });

  test('reports what was allowed', async () => {
    const rig = new Rig();
    rig.verdict = { attempts: 31, breach: 'watch all keys' };
    const { store } = await rig.reconcile(storeNamed('a'));
    expect(verdictOf(store)).toMatch(
      /^False Breached: version 3\.6\.16 did not refuse attempt 31 of a canary tenant at \S+Z: watch all keys; docs\/how-to\/verify-isolation\.md says how to close the hole$/,
    );
    expect(store.status?.isolation).toMatchObject({ attempts: 31, breach: 'watch all keys' });
    expect(rig.events).toEqual([expect.stringMatching(/^Warning IsolationBreached: /)]);
  });

  test('has its verdict also if the API server refuses the first status with it', async () => {
    const rig = new Rig({ intervalMs: 0 });
    rig.takesStatus = false;
    const refused = await rig.reconcile(storeNamed('a'));
    expect(verdictOf(refused.store)).toBe('absent');
    rig.takesStatus = true;
    await rig.clock.advance(2000);
    const { store } = await rig.reconcile(refused.store);
    expect(verdictOf(store)).toContain('True Verified: version 3.6.16 refused all 90 attempts');
    expect(store.status?.isolation).toMatchObject({ time: '2030-01-01T00:00:00Z', attempts: 90 });
    expect(rig.verified).toHaveLength(1);
  });

  test('does not get a verdict on what it was before, and does not take back the one of another manager', async () => {
    const rig = new Rig({ intervalMs: 0 });
    rig.takesStatus = false;
    await rig.reconcile(storeNamed('a'));
    rig.takesStatus = true;
    rig.verdict = { attempts: 31, breach: 'watch all keys' };
    const changed = await rig.reconcile(storeNamed('a', { generation: 2 }));
    expect(verdictOf(changed.store)).toContain('False Breached');
    const other = { ...storeNamed('a', { generation: 2 }), status: { conditions: [] } };
    expect(verdictOf((await rig.reconcile(other)).store)).not.toContain('Breached');
  });

  test('is verified again only after the interval, which differs a little between DataStores', async () => {
    const rig = new Rig();
    const waits: number[] = [];
    for (const name of ['a', 'b', 'c']) {
      let { store } = await rig.reconcile(storeNamed(name));
      const [before, started] = [rig.verified.length, rig.clock.monotonic()];
      while (rig.verified.length === before) {
        await rig.clock.advance(60_000);
        ({ store } = await rig.reconcile(store));
      }
      waits.push(rig.clock.monotonic() - started);
    }
    expect(new Set(waits).size).toBeGreaterThan(1);
    for (const wait of waits) {
      expect(wait).toBeGreaterThanOrEqual(0.9 * hourMs);
      expect(wait).toBeLessThanOrEqual(1.1 * hourMs + 60_000);
    }
  });

  test('is not verified again after a restart, nor ever without an interval', async () => {
    const rig = new Rig({ intervalMs: 0 });
    const { store } = await rig.reconcile(storeNamed('a'));
    rig.restart();
    await rig.clock.advance(1000 * hourMs);
    expect((await rig.reconcile(store)).store.status).toMatchObject({ isolation: { attempts: 90 } });
    expect(rig.verified).toHaveLength(1);
  });

  test.each([
    ['its server has another version', (rig: Rig) => void (rig.version = '3.6.17'), 1],
    ['its credentials changed', (rig: Rig) => void (rig.checksum = 'two'), 1],
    ['its spec changed', () => undefined, 2],
  ])('is verified again when %s', async (_, change, generation) => {
    const rig = new Rig();
    const { store } = await rig.reconcile(storeNamed('a'));
    change(rig);
    const changed = { ...store, metadata: { ...store.metadata, generation } };
    const again = await rig.reconcile(changed);
    expect(rig.verified).toHaveLength(2);
    await rig.reconcile(again.store);
    expect(rig.verified).toHaveLength(2);
  });

  test('is not verified while it cannot be used, and keeps its verdict', async () => {
    const rig = new Rig();
    const { store } = await rig.reconcile(storeNamed('a'));
    rig.reachable = false;
    await rig.clock.advance(10 * hourMs);
    const unreachable = await rig.reconcile(store);
    expect(verdictOf(unreachable.store)).toBe(verdictOf(store));
    expect(unreachable.store.status?.isolation).toEqual(store.status?.isolation);
    expect(rig.verified).toHaveLength(1);
    expect(verdictOf((await rig.reconcile(storeNamed('new'))).store)).toBe('absent');
  });

  test('with one login for all reports that, and is not attacked', async () => {
    const rig = new Rig();
    const { store } = await rig.reconcile(storeNamed('a', { nats: false }));
    expect(verdictOf(store)).toMatch(/^False SharedCredentials: all tenants would have the same credentials/);
    expect(store.status?.isolation).toBeUndefined();
    await rig.reconcile(store);
    expect(rig.verified).toEqual([]);
    expect(rig.events).toHaveLength(1);
  });

  test('whose verification fails says why, and is verified again after 5, 10, 20 seconds and so on, at most five minutes', async () => {
    const rig = new Rig();
    rig.verdict = new StoreError('Unauthorized', 'may not create users');
    let { store, afterMs } = await rig.reconcile(storeNamed('a'));
    expect(verdictOf(store)).toMatch(/^Unknown Pending: the verification failed .*: may not create users$/);
    for (const pause of [5, 10, 20, 40, 80, 160, 300, 300]) {
      const before = rig.verified.length;
      expect(afterMs).toBe(Math.min(pause, 15) * 1000);
      await rig.clock.advance(pause * 1000 - 1);
      ({ store } = await rig.reconcile(store));
      expect(rig.verified).toHaveLength(before);
      await rig.clock.advance(1);
      ({ store, afterMs } = await rig.reconcile(store));
      expect(rig.verified).toHaveLength(before + 1);
    }
    expect(verdictOf(store)).toBe('Unknown Inconclusive: may not create users');
  });

  test.each([
    ['a datastore that answers slowly', { attempts: 3, unclear: 'it did not finish within 20 s' }],
    ['a defect of the verification', new TypeError('undefined is not a function')],
  ])('is given up after three failures within half a minute, also by the next process, with %s', async (_, verdict) => {
    const rig = new Rig();
    rig.verdict = verdict;
    let { store } = await rig.reconcile(storeNamed('a'));
    const reasons: string[] = [];
    for (const seconds of [5, 10]) {
      reasons.push(verdictOf(store).split(':')[0] ?? '');
      await rig.clock.advance(seconds * 1000);
      ({ store } = await rig.reconcile(store));
    }
    reasons.push(verdictOf(store).split(':')[0] ?? '');
    rig.restart();
    ({ store } = await rig.reconcile(store));
    reasons.push(verdictOf(store).split(':')[0] ?? '');
    expect(reasons).toEqual(['Unknown Pending', 'Unknown Pending', 'Unknown Inconclusive', 'Unknown Inconclusive']);
    expect(rig.verified).toHaveLength(4);
  });

  test('is given up, too, when each verification takes longer than a reconcile may', async () => {
    const rig = new Rig();
    rig.verdict = new Error('the time of the reconcile is over');
    rig.aborted = true;
    let store = storeNamed('a');
    for (const seconds of [5, 10, 20]) {
      await expect(rig.reconcile(store)).rejects.toThrow('the time of the reconcile is over');
      ({ store } = await rig.reconcile(store));
      await rig.clock.advance(seconds * 1000);
    }
    expect(verdictOf(store)).toMatch(/^Unknown Inconclusive: it did not finish within/);
    expect(rig.verified).toHaveLength(3);
  });

  test('with a breach is verified again within seconds, and after a restart, so that a closed hole is noticed', async () => {
    const rig = new Rig({ intervalMs: 0 });
    rig.verdict = { attempts: 1, breach: 'connections by every role' };
    let { store } = await rig.reconcile(storeNamed('a'));
    for (const seconds of [5, 10, 20, 40, 80, 160, 300, 300]) {
      const before = rig.verified.length;
      await rig.clock.advance(seconds * 1000);
      ({ store } = await rig.reconcile(store));
      expect(rig.verified).toHaveLength(before + 1);
    }
    expect(rig.events).toHaveLength(1);
    rig.restart();
    rig.verdict = { attempts: 90 };
    ({ store } = await rig.reconcile(store));
    expect(verdictOf(store)).toMatch(/^True Verified/);
    expect(store.status?.isolation?.breach).toBeUndefined();
  });

  test('keeps a breach however often the next verifications fail, also when its spec changes', async () => {
    const rig = new Rig();
    rig.verdict = { attempts: 1, breach: 'watch all keys' };
    let { store } = await rig.reconcile(storeNamed('a'));
    rig.verdict = { attempts: 0, unclear: 'connection lost' };
    for (let count = 0; count < 6; count += 1) {
      await rig.clock.advance(300_000);
      ({ store } = await rig.reconcile(store));
    }
    expect(verdictOf(store)).toMatch(/^False Breached/);
    store = { ...store, metadata: { ...store.metadata, generation: 2 } };
    for (let count = 0; count < 6; count += 1) {
      ({ store } = await rig.reconcile(store));
      await rig.clock.advance(300_000);
    }
    expect(verdictOf(store)).toBe('Unknown Inconclusive: connection lost');
    expect(store.status?.isolation?.breach).toBe('watch all keys');
  });

  test('is not attacked again and again when its CRD is too old to store the result', async () => {
    const rig = new Rig();
    let { store } = await rig.reconcile(storeNamed('a'));
    for (let count = 0; count < 5; count += 1) {
      ({ store } = await rig.reconcile({ ...store, status: { ...store.status, isolation: undefined } }));
    }
    expect(rig.verified).toHaveLength(1);
    expect(verdictOf(store)).toMatch(/^True Verified/);
  });

  test('keeps its verdict through three failures, and loses it with the fourth', async () => {
    const rig = new Rig();
    let { store } = await rig.reconcile(storeNamed('a'));
    rig.verdict = { attempts: 3, unclear: 'get: no answer within 5 s' };
    await rig.clock.advance(2 * hourMs);
    const verdicts: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      ({ store } = await rig.reconcile(store));
      verdicts.push(verdictOf(store).replace(/ .*/, ''));
      await rig.clock.advance(300_000);
    }
    expect(verdicts).toEqual(['True', 'True', 'True', 'Unknown']);
    rig.verdict = { attempts: 90 };
    expect(verdictOf((await rig.reconcile(store)).store)).toMatch(/^True Verified/);
  });

  test('waits while another one is verified', async () => {
    const rig = new Rig();
    const gate = Promise.withResolvers<undefined>();
    rig.gate = gate.promise;
    const first = rig.reconcile(storeNamed('a'));
    const second = await rig.reconcile(storeNamed('b'));
    expect(second.afterMs).toBe(250);
    expect(verdictOf(second.store)).toMatch(/^Unknown Pending/);
    gate.resolve(undefined);
    await first;
    expect(verdictOf((await rig.reconcile(second.store)).store)).toMatch(/^True Verified/);
    expect(rig.verified).toHaveLength(2);
  });

  test('has canaries of its own, and others for the manager of another namespace', async () => {
    const [all, some] = [new Rig(), new Rig({ namespace: 'tenants' })];
    for (const rig of [all, some]) for (const name of ['a', 'b']) await rig.reconcile(storeNamed(name));
    expect(new Set([...all.verified, ...some.verified]).size).toBe(4);
  });
});
