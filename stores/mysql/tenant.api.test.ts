import { expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { mysqlConfigOf, mysqlTenancy, openMysql } from '../../testing/contracts/stores/mysql/config.ts';
import { eventually } from '../../testing/eventually.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import { startKine } from '../../testing/servers/kine-server.ts';
import { startMariadb } from '../../testing/servers/mariadb-server.ts';
import { dumpMysql } from '../../testing/contracts/stores/mysql/dump.ts';
import { administratorLogin } from '../../testing/contracts/stores/mysql/as-administrator.ts';
import { rawMysql } from './isolation/raw-client.ts';
import { mysqlDriver } from './driver.ts';
import type { MysqlConfig } from './driver.ts';

async function dump(config: MysqlConfig): Promise<readonly string[]> {
  const client = await rawMysql(config, administratorLogin(config));
  try {
    return await dumpMysql(client);
  } finally {
    client.destroy();
  }
}

test('a real kube-apiserver uses only its tenancy through kine, survives a restart of the server, and leaves nothing behind', async () => {
  await using server = await startMariadb({ tls: true });
  const config = mysqlConfigOf(server);
  await using session = await openMysql(config);
  const first = mysqlTenancy('first');
  await session.ensure(first);
  await session.remove(first);
  const before = await dump(config);
  const tenancy = mysqlTenancy('tenant');
  await session.ensure(tenancy);
  const binding = mysqlDriver.bind(config, tenancy);
  if (binding.kind !== 'kine') throw new Error('not behind kine');
  const tls = await mysqlDriver.clientTls(config, tenancy, undefined, new Date());
  await using kine = await startKine({ binding, tenancy, tls });
  await using apiServer = await startApiServer({ flags: { 'etcd-servers': kine.endpoint } });
  const cluster = openCluster(parseKubeconfig(apiServer.kubeconfig), { name: 'tenant' });
  try {
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules: [] } as const;
    // Names that etcd keeps apart, and kine's own table does not or cannot hold.
    const names = ['case', 'Case', 'ünïcode'];
    for (const name of names) await cluster.create(kinds.ClusterRole, { ...role, metadata: { name } });
    const { items } = await cluster.list(kinds.ClusterRole);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(names));
    await server.restart();
    const metadata = { name: 'later', namespace: 'default' };
    const later = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } } as const;
    // A server that was restarted is met by calls that find a lost connection.
    await eventually(() => cluster.create(kinds.ConfigMap, later));
    expect((await cluster.get(kinds.ConfigMap, metadata))?.data).toEqual({ a: 'b' });
  } finally {
    await cluster.close();
  }
  // While it still runs: its own writes do not come back.
  await session.remove(tenancy);
  expect(await dump(config)).toEqual(before);
}, 180_000);
