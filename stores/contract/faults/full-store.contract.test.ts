import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { systemClock } from '../../../runtime/clock.ts';
import { startEtcdDataUnderTest } from '../../../testing/contracts/stores/etcd/data-under-test.ts';
import type { EtcdDataUnderTest } from '../../../testing/contracts/stores/etcd/data-under-test.ts';
import type { EtcdServer } from '../../../testing/servers/etcd-server.ts';
import { migrate } from '../../migration/migrate.ts';
import type { MigrationOutcome } from '../../migration/migration.ts';
import { moving } from '../../migration/moving-options.ts';
import type { StoredChange } from '../../tenancy-data.ts';
import { contentOf } from '../data-content.ts';
import { RegisterClients } from '../linearizability/register-clients.ts';
import { reportRegisters } from '../linearizability/report-registers.ts';
import type { DataTenant } from '../tenancy-data-contract.ts';

/** Pauses of the engine pass so much sooner. */
const haste = 20;
const filling = 'configmaps/filling/';

/** Values of a mebibyte that do not become smaller when they are compressed. */
const mebibytes = (count: number): readonly StoredChange[] =>
  Array.from({ length: count }, (_, index): StoredChange => {
    return { is: 'put', entry: { key: `${filling}${index}`, value: randomBytes(1 << 20) } };
  });

async function fill({ data }: DataTenant, count: number): Promise<void> {
  await data.beginWrites();
  // Each by itself, as all of them are more than a page.
  for (const change of mebibytes(count)) await data.write([change]);
  await data.endWrites();
}

interface Moved {
  readonly outcome: MigrationOutcome;
  /** What the engine reported meanwhile. */
  readonly problems: string;
}

/** Migrates under clients, which continue where the tenant is afterwards; their keys must be linearizable all the time. */
async function moveWhileUsed(
  title: string,
  { source, target }: { readonly source: DataTenant; readonly target: DataTenant },
  whenHindered: () => Promise<void> = () => Promise.resolve(),
): Promise<Moved> {
  await using clients = new RegisterClients([source.hand], source, { name: 'full' });
  const options = moving(source, target);
  let helped = Promise.resolve();
  let isHindered = false;
  const outcome = await migrate({
    ...options,
    source: () => source.anotherData(),
    target: () => target.anotherData(),
    clock: {
      ...systemClock,
      // Pauses pass sooner, but not before the operator is done, whose failure is thrown below.
      after: (ms, action) => systemClock.after(ms / haste, () => void helped.finally(action).catch(() => undefined)),
    },
    report: (progress) => {
      options.reports.push(progress);
      if (progress.problem === undefined || isHindered) return;
      isHindered = true;
      helped = whenHindered();
    },
  });
  await helped;
  const now = outcome.is === 'done' ? target : source;
  await using hand = await now.anotherHand();
  clients.moveTo([hand], now);
  await clients.answers(10);
  await clients.end();
  await clients.observe(() => contentOf(now.data));
  reportRegisters(title, clients);
  return { outcome, problems: options.reports.flatMap(({ problem }) => problem ?? []).join('\n') };
}

/** The keys that were filled, with the digests of their values. */
async function filled({ data }: DataTenant): Promise<ReadonlyMap<string, string>> {
  const content = await contentOf(data);
  return new Map(
    [...content]
      .filter(([key]) => key.startsWith(filling))
      .map(([key, value]) => [key, createHash('sha256').update(value, 'latin1').digest('hex')]),
  );
}

/** Makes an etcd accept writes again after something was deleted, as the page about etcd says. */
async function makeRoom(server: EtcdServer): Promise<void> {
  const statuses = JSON.parse(await server.control('endpoint', 'status', '--write-out=json')) as readonly {
    readonly Status: { readonly header: { readonly revision: number } };
  }[];
  const revision = String(statuses[0]?.Status.header.revision ?? 0);
  await server.control('compact', '--physical', revision).catch((error: unknown) => {
    if (!String(error).includes('has been compacted')) throw error;
  });
  await server.control('defrag');
  await server.control('alarm', 'disarm');
}

/** Writes until the quota is used up. */
async function fillUp(tenant: DataTenant): Promise<void> {
  await expect(
    (async () => {
      for (let index = 0; index < 64; index += 1) await tenant.hand.put(`${filling}${index % 8}`, randomBytes(1 << 20));
    })(),
  ).rejects.toThrow(/space exceeded/);
}

describe('A migration and a store that is full', () => {
  let large: EtcdDataUnderTest;
  let small: EtcdDataUnderTest;
  beforeAll(async () => {
    large = await startEtcdDataUnderTest();
    small = await startEtcdDataUnderTest(undefined, { 'quota-backend-bytes': String(32 << 20) });
  }, 60_000);
  afterAll(async () => {
    for (const store of [large, small]) await store[Symbol.asyncDispose]();
  });

  afterEach(async () => {
    await small.server.control('del', '--prefix', '/');
    await makeRoom(small.server);
  }, 60_000);

  test('to etcd: it is completed once there is room again', async () => {
    await using source = await large.tenant();
    await using target = await small.tenant();
    await using neighbor = await small.tenant();
    await fill(source, 16);
    await fill(neighbor, 14);
    const before = await filled(source);
    const { outcome, problems } = await moveWhileUsed(
      'etcd is full, and has room again',
      { source, target },
      async () => {
        for (const key of (await filled(neighbor)).keys()) await neighbor.hand.delete(key);
        await makeRoom(small.server);
      },
    );
    expect(problems).toMatch(/etcd at .* its quota is used up and it accepts no writes: compact, defragment/);
    expect(outcome).toMatchObject({ is: 'done' });
    expect(await filled(target)).toEqual(before);
  }, 120_000);

  test('to etcd: it is rolled back with the reason, and the tenant goes on where it was', async () => {
    await using source = await large.tenant();
    await using target = await small.tenant();
    await fill(source, 40);
    const before = await filled(source);
    const { outcome } = await moveWhileUsed('etcd stays full', { source, target });
    expect(outcome).toMatchObject({
      is: 'rolled-back',
      reason: expect.stringMatching(/its quota is used up.*compact/),
    });
    expect(await filled(source)).toEqual(before);
  }, 120_000);

  test('from etcd: a tenant can leave it', async () => {
    await using source = await small.tenant();
    await using target = await large.tenant();
    await fillUp(source);
    const before = await filled(source);
    const { outcome } = await moveWhileUsed('away from an etcd that is full', { source, target });
    expect(outcome).toMatchObject({ is: 'done' });
    expect(await filled(target)).toEqual(before);
  }, 120_000);

  test('of etcd: a fence that is put up then holds, also when there is room again', async () => {
    await using tenant = await small.tenant();
    await fillUp(tenant);
    await tenant.data.fence();
    await tenant.data.fence();
    await tenant.ensure();
    await tenant.hand.delete(`${filling}0`).catch(() => undefined);
    expect((await filled(tenant)).size).toBe(8);
    await makeRoom(small.server);
    const put = (): Promise<bigint> => tenant.hand.put('pods/a', Buffer.from('x'));
    await expect(put()).rejects.toThrow(/permission denied/);
    await tenant.ensure();
    await expect(put()).rejects.toThrow(/permission denied/);
    await tenant.data.fence();
    await tenant.data.unfence();
    await put();
    await tenant.ensure();
    await put();
  }, 120_000);
});
