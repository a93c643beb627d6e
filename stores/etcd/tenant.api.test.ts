import { expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kinds } from '../../api/core/kinds.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { startEtcdDataStore } from '../../testing/contracts/stores/etcd/data-store.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import { serverFolder } from '../../testing/servers/server-folder.ts';
import type { ClientTls, StoreBinding } from '../driver.ts';
import { etcdDriver } from './driver.ts';

/** The flags that a tenant's API server gets. */
async function flagsOf(
  folder: string,
  binding: StoreBinding,
  tls: ClientTls,
): Promise<Readonly<Record<string, string>>> {
  if (binding.kind !== 'etcd') throw new Error('not etcd');
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  return {
    'etcd-servers': binding.endpoints.join(),
    'etcd-prefix': binding.prefix,
    'etcd-compaction-interval': '0s',
    'etcd-cafile': await write('ca.crt', tls.ca),
    'etcd-certfile': await write('tls.crt', tls.certificate ?? ''),
    'etcd-keyfile': await write('tls.key', tls.key ?? ''),
  };
}

test('a real kube-apiserver uses only its tenancy, whose removal leaves nothing behind', async () => {
  await using folder = await serverFolder();
  await using store = await startEtcdDataStore();
  const config = await etcdDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  await using session = await etcdDriver.open(config, new AbortController().signal);
  const tenancy = { schema: 'tenant', user: 'tenant', owner: 'uid' };
  const before = await store.server.control('get', '', '--prefix', '--keys-only');
  await session.ensure(tenancy);
  const tls = await etcdDriver.clientTls(config, tenancy, undefined, new Date());
  if (tls === undefined) throw new Error('etcd uses TLS');
  {
    await using server = await startApiServer({
      flags: await flagsOf(folder.path, etcdDriver.bind(config, tenancy), tls),
    });
    const cluster = openCluster(parseKubeconfig(server.kubeconfig), { name: 'tenant' });
    try {
      const metadata = { name: 'kept', namespace: 'default' };
      await cluster.create(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
      expect((await cluster.list(kinds.ConfigMap, { namespace: 'default' })).items.length).toBeGreaterThan(0);
    } finally {
      await cluster.close();
    }
    const keys = (await store.server.control('get', '', '--prefix', '--keys-only'))
      .split('\n')
      .filter((key) => key !== '');
    expect(keys).toContain('/tenant/configmaps/default/kept');
    expect(keys.filter((key) => !/^(?:\/tenant\/|steward\.butlerlabs\.dev\/)/.test(key))).toEqual([]);
    // While it still runs: its own writes do not come back.
    await session.remove(tenancy);
    expect(await store.server.control('get', '', '--prefix', '--keys-only')).toBe(before);
  }
  expect((await store.server.control('user', 'list')).trim()).toBe('root');
  expect(await store.server.control('role', 'list')).not.toContain('tenant');
}, 120_000);
