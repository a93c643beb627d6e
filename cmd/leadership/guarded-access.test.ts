import { expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { MemoryStore } from '../../testing/fake/memory-driver.ts';
import { guardedAccess } from './guarded-access.ts';

const key = { namespace: 'default', name: 'x' };
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
const tenancy = { schema: 'tenant', user: 'tenant', owner: 'uid' };

test('A manager that must not write anymore changes neither its cluster, nor a tenant, nor a datastore', async () => {
  let leads = true;
  const [management, tenant, store] = [new FakeCluster(), new FakeCluster(), new MemoryStore()];
  const { cluster, open, sessions } = guardedAccess({
    client: management,
    open: () => tenant,
    clock: new FakeClock(),
    mayWrite: () => {
      if (!leads) throw new Error('this process is not the leader');
    },
  });
  const inTenant: Cluster = open({ server: 'https://tenant:6443' }, { name: 'tenant' });
  const work = [
    () => cluster.create(kinds.ConfigMap, configMap),
    () => inTenant.create(kinds.ConfigMap, configMap),
    () => sessions.use(store.driver, 'store:1', (session) => session.ensure(tenancy)),
  ];
  for (const write of work) await write();
  leads = false;
  const undo = [
    () => cluster.delete(kinds.ConfigMap, key),
    () => inTenant.delete(kinds.ConfigMap, key),
    () => sessions.use(store.driver, 'store:1', (session) => session.remove(tenancy)),
  ];
  for (const write of undo) await expect(write()).rejects.toThrow('is not the leader');
  expect([await cluster.get(kinds.ConfigMap, key), await inTenant.get(kinds.ConfigMap, key)]).toEqual([
    expect.objectContaining({ kind: 'ConfigMap' }),
    expect.objectContaining({ kind: 'ConfigMap' }),
  ]);
  expect([...store.tenancies.keys()]).toEqual(['tenant']);
});
