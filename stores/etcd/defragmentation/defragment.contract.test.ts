import { describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../../runtime/clock.ts';
import { startEtcdDataStore } from '../../../testing/contracts/stores/etcd/data-store.ts';
import type { EtcdDataStore } from '../../../testing/contracts/stores/etcd/data-store.ts';
import { patient } from '../../../testing/patient.ts';
import type { DefragmentationRequest, DefragmentationStep, DefragmentedServer } from '../../defragmentation.ts';
import { EtcdClient } from '../client.ts';
import type { LivingMember } from '../client.ts';
import type { EtcdConfig } from '../config.ts';
import { etcdDriver } from '../driver.ts';
import { defragmentNext, defragmentationLock } from './defragment.ts';

const noSecrets = (): Promise<undefined> => Promise.resolve(undefined);
const limits = { freePercent: 30, minimumBytes: 2 ** 20, maximumPauseMs: 5000 };
const mebibyte = 2 ** 20;
const parts = 32;

/** Free parts of files, in percent. */
const freeParts = (members: readonly LivingMember[]): readonly number[] =>
  members.map(({ sizeBytes, inUseBytes }) => Math.round(((sizeBytes - inUseBytes) * 100) / sizeBytes));

const freeBytes = (members: readonly LivingMember[]): readonly number[] =>
  members.map(({ sizeBytes, inUseBytes }) => sizeBytes - inUseBytes);

/** A cluster and a client of its administrator. */
class Rig implements AsyncDisposable {
  readonly store: EtcdDataStore;
  readonly config: EtcdConfig;
  readonly client: EtcdClient;

  private constructor(store: EtcdDataStore, config: EtcdConfig) {
    this.store = store;
    this.config = config;
    this.client = new EtcdClient(config);
  }

  static async start(options: Parameters<typeof startEtcdDataStore>[0] = {}): Promise<Rig> {
    const store = await startEtcdDataStore({ members: 3, ...options });
    return new Rig(store, await etcdDriver.configure(store.dataStore, noSecrets));
  }

  async living(): Promise<readonly LivingMember[]> {
    return (await this.client.members()).filter((answer) => 'version' in answer);
  }

  async leader(): Promise<string> {
    return (await this.living()).find(({ memberId, leaderId }) => memberId === leaderId)?.endpoint ?? '';
  }

  /**
   * Writes half a mebibyte. In parts, because each commit of a member frees the last page that it wrote: with one big value in a page, a
   * slow member, which commits more often, has a file of which more than a fifth is free.
   */
  async put(key: string): Promise<void> {
    const value = Buffer.alloc(mebibyte / 2 / parts, 'x');
    await this.client.data.write(
      Array.from({ length: parts }, (_, part) => ({
        is: 'put',
        entry: { key: Buffer.from(`${key}/${part}`), value },
      })),
    );
  }

  async fill(mebibytes: number): Promise<void> {
    for (let index = 0; index < 20; index += 1) await this.client.data.touch(Buffer.from(`tick/${index}`));
    for (let index = 0; index < 2 * mebibytes; index += 1) await this.put(`filler/${index}`);
  }

  /** Deletes what `fill` wrote but for small keys, and waits until every member has compacted. */
  async empty(): Promise<void> {
    await this.store.server.control('del', 'filler/', '--prefix');
    const { header } = JSON.parse(await this.store.server.control('get', 'filler', '-w', 'json')) as {
      readonly header: { readonly revision: number };
    };
    await this.store.server.control('compact', String(header.revision), '--physical');
    let tick = 0;
    await this.until(async () => {
      // etcd counts the pages that a compaction freed when it writes something; a deletion is possible without space, too.
      await this.store.server.control('del', `tick/${tick}`);
      tick += 1;
      return (await this.living()).every(({ inUseBytes }) => inUseBytes <= 2 * mebibyte);
    });
  }

  async until(holds: () => Promise<boolean>): Promise<void> {
    const signal = AbortSignal.timeout(patient(20_000));
    while (!(await holds())) await delay(50, undefined, { signal });
  }

  async step(over: Partial<DefragmentationRequest> = {}): Promise<DefragmentationStep> {
    const signal = AbortSignal.timeout(patient(60_000));
    return defragmentNext(this.client, { limits, previous: [], clock: systemClock, signal, ...over });
  }

  /** All steps until none is needed or possible. */
  async run(): Promise<readonly DefragmentationStep[]> {
    const steps: DefragmentationStep[] = [];
    const previous: DefragmentedServer[] = [];
    while (steps.length < 10) {
      const step = await this.step({ previous });
      if (step.is === 'unneeded') break;
      steps.push(step);
      if (step.is === 'waits') break;
      if (step.is === 'defragmented') previous.push(step.server);
    }
    return steps;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

describe('Three members', () => {
  test('get their free pages back, the followers first and the leader last', async () => {
    // A leader that gets no processor for a second would be followed by another one.
    await using rig = await Rig.start({ flags: { 'heartbeat-interval': '300', 'election-timeout': '3000' } });
    expect(await rig.step()).toEqual({ is: 'unneeded' });
    await rig.fill(20);
    await rig.empty();
    const [leader, before] = [await rig.leader(), await rig.living()];
    expect(Math.min(...freeParts(before))).toBeGreaterThan(80);
    const [first, second] = before.map(({ endpoint }) => endpoint).filter((endpoint) => endpoint !== leader);
    const steps = await rig.run();
    expect(steps).toMatchObject([
      { is: 'defragmented', server: { endpoint: first } },
      { is: 'defragmented', server: { endpoint: second } },
      { is: 'defragmented', server: { endpoint: leader } },
    ]);
    // In bytes: of a file this small, some pages stay free.
    expect(Math.max(...freeBytes(await rig.living()))).toBeLessThan(mebibyte);
    for (const step of steps) {
      if (step.is === 'defragmented') expect(step.server.freedBytes).toBeGreaterThan(15 * mebibyte);
    }
    expect(await rig.leader()).toBe(leader);
    // Nothing of ours is left in the store.
    expect(await rig.store.server.control('get', defragmentationLock)).toBe('');
    expect(await rig.store.server.control('lease', 'list')).toContain('found 0 leases');
  }, 120_000);

  test('are left alone while one is down, while one is not among the endpoints, and while another process defragments', async () => {
    await using rig = await Rig.start();
    await rig.fill(4);
    await rig.empty();
    const before = (await rig.living()).map(({ sizeBytes }) => sizeBytes);
    await using partly = new EtcdClient({ ...rig.config, endpoints: rig.config.endpoints.slice(0, 2) });
    const signal = AbortSignal.timeout(patient(60_000));
    const request = { limits, previous: [], clock: systemClock, signal };
    const partial = await defragmentNext(partly, request);
    expect(partial).toMatchObject({ is: 'waits', reason: 'MembersNotListed' });
    expect(partial).toHaveProperty('message', expect.stringMatching(/^member member-2 is not among spec\.endpoints: /));

    const lease = await rig.client.maintenance.lock(defragmentationLock, 60);
    expect(await rig.step()).toMatchObject({ is: 'waits', reason: 'Busy' });
    await rig.client.maintenance.unlock(lease ?? '');

    await rig.store.server.kill(1);
    const broken = await rig.step();
    expect(broken).toMatchObject({ is: 'waits', reason: 'MembersUnhealthy' });
    expect(broken).toHaveProperty('message', expect.stringContaining(rig.config.endpoints[1] ?? ''));
    await rig.store.server.restart(1);
    await rig.until(async () => (await rig.living()).length === 3);
    expect((await rig.living()).map(({ sizeBytes }) => sizeBytes)).toEqual(before);
    // Once it is back, the work is done.
    expect((await rig.run()).map(({ is }) => is)).toEqual(['defragmented', 'defragmented', 'defragmented']);
  }, 120_000);

  test('accept writes again after their quota was used up and space was freed, and not before', async () => {
    const quota = 32 * mebibyte;
    await using rig = await Rig.start({ flags: { 'quota-backend-bytes': String(quota) } });
    await expect(rig.fill(64)).rejects.toThrow(/quota is used up/);
    const full = await rig.step();
    expect(full).toMatchObject({ is: 'waits', reason: 'SpaceExceeded' });
    expect('message' in full ? full.message : '').toMatch(
      /has used up the quota of 32 MiB .*raise --quota-backend-bytes/,
    );

    await rig.empty();
    await expect(rig.put('after')).rejects.toThrow(/quota is used up/);
    expect((await rig.run()).map(({ is }) => is)).toEqual(['defragmented', 'defragmented', 'defragmented', 'disarmed']);
    await rig.put('after');
    expect(await rig.store.server.control('alarm', 'list')).toBe('');
  }, 120_000);
});

test('a single member is defragmented where it is', async () => {
  await using rig = await Rig.start({ members: 1 });
  await rig.fill(4);
  await rig.empty();
  expect(await rig.run()).toMatchObject([{ is: 'defragmented' }]);
  expect(Math.max(...freeBytes(await rig.living()))).toBeLessThan(mebibyte);
}, 60_000);
