import { describe, expect, test } from '@jest/globals';
import { slowness } from '../../e2e/cluster/slowness.ts';
import { startEtcdDataStore } from '../../testing/contracts/stores/etcd/data-store.ts';
import { startEtcdUnderTest } from '../../testing/contracts/stores/etcd/store-under-test.ts';
import { testScope } from '../../testing/runner/test-scope.ts';
import { describeDriver } from '../contract/driver-contract.ts';
import { etcdDriver } from './driver.ts';

const noSecrets = (): Promise<undefined> => Promise.resolve(undefined);

for (const { version } of testScope().etcd) {
  describeDriver(`etcd ${version}`, () => startEtcdUnderTest(version), slowness());
}

describe('The etcd driver', () => {
  test('refuses an etcd whose authentication is disabled', async () => {
    await using store = await startEtcdDataStore({ auth: false });
    const config = await etcdDriver.configure(store.dataStore, noSecrets);
    await using session = await etcdDriver.open(config, new AbortController().signal);
    await expect(session.ping()).rejects.toThrow(/authentication is disabled/);
    const tenancy = { schema: 'a', user: 'a', owner: 'uid' };
    await expect(session.ensure(tenancy)).rejects.toMatchObject({ reason: 'Unauthorized' });
  }, 60_000);

  test('continues while one of three members is dead, and reports a lost quorum', async () => {
    await using store = await startEtcdDataStore({ members: 3 });
    const config = await etcdDriver.configure(store.dataStore, noSecrets);
    await using session = await etcdDriver.open(config, new AbortController().signal);
    await store.server.kill(0);
    const tenancy = { schema: 'a', user: 'a', owner: 'uid' };
    await session.ensure(tenancy);
    expect((await session.ping()).notes).toHaveLength(1);
    await session.remove(tenancy);
    await store.server.kill(1);
    await expect(session.ping()).rejects.toMatchObject({ reason: 'Unreachable' });
  }, 120_000);
});
