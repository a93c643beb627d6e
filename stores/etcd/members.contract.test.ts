import { expect, test } from '@jest/globals';
import { startEtcdDataStore } from '../../testing/contracts/stores/etcd/data-store.ts';
import { clientPair } from '../../testing/servers/server-certificates.ts';
import { etcdDriver } from './driver.ts';
import { rawEtcdClient } from './isolation/raw-client.ts';

test('the members of etcd are shown to a tenant with names and addresses only, and changed by none', async () => {
  await using store = await startEtcdDataStore();
  const config = await etcdDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  await using session = await etcdDriver.open(config, new AbortController().signal);
  await session.ensure({ schema: 'tenant', user: 'tenant', owner: 'uid' });
  const tenant = rawEtcdClient(config, await clientPair(store.tls.ca, 'tenant'));
  try {
    const { members } = await tenant.cluster.memberList({});
    expect(members.map((member) => Object.keys(member).sort())).toEqual([
      ['ID', 'clientURLs', 'isLearner', 'name', 'peerURLs'],
    ]);
    const [member] = members;
    if (member === undefined) throw new Error('an etcd has a member');
    const { ID, peerURLs } = member;
    for (const change of [
      () => tenant.cluster.memberAdd({ peerURLs: ['http://localhost:1'] }),
      () => tenant.cluster.memberUpdate({ ID, peerURLs: ['http://localhost:1'] }),
      () => tenant.cluster.memberRemove({ ID }),
    ])
      await expect(change()).rejects.toThrow(/permission denied/);
    expect((await tenant.cluster.memberList({})).members).toMatchObject([{ ID, peerURLs }]);
  } finally {
    tenant.close();
  }
}, 60_000);
