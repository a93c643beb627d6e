import { expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../../runtime/clock.ts';
import { startEtcdDataStore } from '../../../testing/contracts/stores/etcd/data-store.ts';
import { LoadedTenant } from '../../../testing/contracts/stores/etcd/loaded-tenant.ts';
import { patient } from '../../../testing/patient.ts';
import type { DefragmentationStep, DefragmentedServer } from '../../defragmentation.ts';
import { EtcdClient } from '../client.ts';
import { etcdDriver } from '../driver.ts';

const mebibyte = 2 ** 20;
const limits = { freePercent: 40, minimumBytes: mebibyte, maximumPauseMs: 60_000 };

test('the clients of a tenant lose no call while all three members are defragmented', async () => {
  // A leader that gets no processor for a second would be followed by another one.
  const flags = { 'heartbeat-interval': '300', 'election-timeout': '3000' };
  await using store = await startEtcdDataStore({ members: 3, flags });
  const config = await etcdDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  await using client = new EtcdClient(config);
  const fill = async (prefix: string, mebibytes: number): Promise<void> => {
    const value = Buffer.alloc(mebibyte / 2, 'x');
    for (let index = 0; index < 2 * mebibytes; index += 1) {
      await client.data.write([{ is: 'put', entry: { key: Buffer.from(`${prefix}/${index}`), value } }]);
    }
  };
  await fill('kept', 20);
  await fill('deleted', 40);
  await store.server.control('del', 'deleted/', '--prefix');
  const { header } = JSON.parse(await store.server.control('get', 'kept', '-w', 'json')) as {
    readonly header: { readonly revision: number };
  };
  await store.server.control('compact', String(header.revision), '--physical');
  await using tenant = await LoadedTenant.start(store);

  const steps: DefragmentationStep[] = [];
  const previous: DefragmentedServer[] = [];
  const signal = AbortSignal.timeout(patient(60_000));
  for (;;) {
    const step = await tenant.session.defragment?.({ limits, previous, clock: systemClock, signal });
    if (step === undefined) throw new Error('the driver of etcd cannot defragment');
    if (step.is === 'defragmented') previous.push(step.server);
    if (step.is !== 'unneeded') steps.push(step);
    if (previous.length === 3) break;
    // Members count the pages that a compaction freed one after the other.
    if (step.is === 'unneeded') await delay(100, undefined, { signal });
  }
  expect(steps.map(({ is }) => is)).toEqual(['defragmented', 'defragmented', 'defragmented']);
  for (const { freedBytes } of previous) expect(freedBytes).toBeGreaterThan(20 * mebibyte);

  const noticed = await tenant.stop();
  expect(noticed).toMatchObject({ failures: [], repeated: [], unseen: [] });
  // How many there were depends on the disk: each was answered.
  expect(noticed.calls).toBeGreaterThan(3);
  // Nobody waits for longer than for the member that is blocked.
  expect(noticed.slowestMs).toBeLessThan(patient(7000));
}, 120_000);
