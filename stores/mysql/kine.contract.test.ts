import { expect, test } from '@jest/globals';
import { mysqlConfigOf, mysqlEndpoint, mysqlTenancy, openMysql } from '../../testing/contracts/stores/mysql/config.ts';
import { startKine } from '../../testing/servers/kine-server.ts';
import { startMariadb } from '../../testing/servers/mariadb-server.ts';
import { apiServerHand } from '../../testing/contracts/stores/api-server-client.ts';
import { startTcpProxy } from '../../testing/servers/tcp-proxy.ts';
import { kineRoot } from '../kine/kine-keys.ts';
import { mysqlDriver } from './driver.ts';

test('kine leaves a server that has become a replica, and continues at the one that accepts writes', async () => {
  await using server = await startMariadb();
  // Simulates the address that follows a failover.
  await using proxy = await startTcpProxy(server.port);
  const config = { ...mysqlConfigOf(server), endpoints: [mysqlEndpoint(proxy.port)] };
  const tenancy = mysqlTenancy('tenant');
  await using session = await openMysql(mysqlConfigOf(server));
  await session.ensure(tenancy);
  const binding = mysqlDriver.bind(config, tenancy);
  if (binding.kind !== 'kine') throw new Error('not behind kine');
  await using kine = await startKine({ binding, tenancy });
  const hand = apiServerHand(kine.client, kineRoot, () => Promise.resolve());
  await hand.put('pods/a', Buffer.from('1'));
  const before = proxy.accepted;
  await server.sql('SET GLOBAL read_only = 1');
  await expect(hand.put('pods/b', Buffer.from('1'))).rejects.toBeDefined();
  // Each was given up for a new one, which might have led elsewhere.
  expect(proxy.accepted).toBeGreaterThan(before);
  expect(await hand.get('pods/a')).toEqual(Buffer.from('1'));
  await server.sql('SET GLOBAL read_only = 0');
  await hand.put('pods/b', Buffer.from('1'));
  proxy.cut();
  expect(await hand.get('pods/b')).toEqual(Buffer.from('1'));
}, 60_000);
