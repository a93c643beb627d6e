import { expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { startEtcdDataStore } from '../../../testing/contracts/stores/etcd/data-store.ts';
import { LoadedTenant } from '../../../testing/contracts/stores/etcd/loaded-tenant.ts';
import { patient } from '../../../testing/patient.ts';
import type { ServerState } from '../../driver.ts';

test('three members are upgraded from 3.6 to 3.7 one by one, one is downgraded once that is enabled in etcd, and no call of a tenant’s clients fails twice', async () => {
  await using store = await startEtcdDataStore({ members: 3, release: '3.6.16' });
  await using tenant = await LoadedTenant.start(store);
  const { session } = tenant;
  /** Waits until the members report this; a connection to one that was restarted takes a moment. */
  const until = async (wanted: Partial<ServerState>): Promise<void> => {
    const end = performance.now() + patient(60_000);
    for (;;) {
      const { storageVersion, notes } = await session.ping();
      if (isDeepStrictEqual({ storageVersion, notes }, { notes: undefined, ...wanted })) return;
      if (performance.now() > end) expect({ storageVersion, notes }).toEqual(wanted);
      await delay(100);
    }
  };
  expect(await session.ping()).toMatchObject({ version: '3.6.16', storageVersion: '3.6' });

  // As a StatefulSet does it: from the last one on, and the next one when this one is ready.
  await store.server.replace(2, '3.7.3');
  const versions = ['3.6.16', '3.6.16', '3.7.3'];
  const notes = store.dataStore.spec.endpoints.map((endpoint, at) => `${endpoint} runs version ${versions[at]}`);
  await until({ storageVersion: '3.6', notes });
  await store.server.replace(1, '3.7.3');
  await store.server.replace(0, '3.7.3');
  await until({ storageVersion: '3.7' });
  expect((await session.ping()).version).toBe('3.7.3');

  // validateImage refuses this before it happens, and says what to do. The others go on without this member.
  await expect(store.server.replace(2, '3.6.16')).rejects.toThrow(/version \\?"3\.7\.0\\?" is not supported/);
  // etcd changes the format of the data only while all members run.
  await store.server.replace(2, '3.7.3');
  await store.server.control('downgrade', 'enable', '3.6');
  await until({ storageVersion: '3.6' });
  await store.server.replace(2, '3.6.16');

  const noticed = await tenant.stop();
  expect(noticed).toMatchObject({ failures: [], unseen: [] });
  expect(noticed.calls).toBeGreaterThan(500);
  // A member that ends hands over the leadership, and etcd drops what is under way to the old leader.
  expect(noticed.repeated.length).toBeLessThan(noticed.calls / 20);
}, 180_000);
