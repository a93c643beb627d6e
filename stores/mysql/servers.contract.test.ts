import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { issue } from '../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { lifetimeFrom } from '../../kubeadm/pki/lifetime.ts';
import { mysqlConfigOf, mysqlEndpoint, mysqlTenancy, openMysql } from '../../testing/contracts/stores/mysql/config.ts';
import { startMariadb } from '../../testing/servers/mariadb-server.ts';
import type { MariadbServer } from '../../testing/servers/mariadb-server.ts';
import { administratorLogin } from '../../testing/contracts/stores/mysql/as-administrator.ts';
import { rawMysql, tenantLogin } from './isolation/raw-client.ts';
import { makeAsGoSteward } from '../../testing/contracts/stores/mysql/states.ts';
import { ownershipSchema } from './names.ts';
import { identifier } from './sql.ts';

describe('The MySQL driver with several MariaDB servers', () => {
  test('uses the one that accepts writes, also after a failover', async () => {
    await using first = await startMariadb({ settings: { 'read-only': '1' } });
    await using second = await startMariadb();
    await using session = await openMysql(mysqlConfigOf(first, second));
    const names = async (server: MariadbServer): Promise<readonly string[]> => {
      const client = await rawMysql(mysqlConfigOf(server), administratorLogin(mysqlConfigOf(server)));
      const [rows] = await client.query("SELECT User AS name FROM mysql.user WHERE User LIKE 'moves%'");
      client.destroy();
      return (rows as { name: string }[]).map(({ name }) => name);
    };
    await session.ensure(mysqlTenancy('moves-1'));
    expect([await names(first), await names(second)]).toEqual([[], ['moves-1']]);
    // A failover: the administrator could write to either, for no server holds it back.
    await second.sql('SET GLOBAL read_only = 1');
    await first.sql('SET GLOBAL read_only = 0');
    await session.ensure(mysqlTenancy('moves-2'));
    expect([await names(first), await names(second)]).toEqual([['moves-2'], ['moves-1']]);
    await first.kill();
    await expect(session.ping()).rejects.toThrow(/ECONNREFUSED.*is a replica/);
    await second.sql('SET GLOBAL read_only = 0');
    const { notes } = await session.ping();
    expect(notes?.join()).toMatch(/ECONNREFUSED.*tenants use only this endpoint/);
  }, 60_000);

  test('treats database names that differ only by case as one if the server folds names', async () => {
    await using server = await startMariadb({ settings: { 'lower-case-table-names': '1' } });
    await using session = await openMysql(mysqlConfigOf(server));
    await session.ensure(mysqlTenancy('Team', { user: 'upper' }));
    const other = mysqlTenancy('team', { user: 'lower' });
    await expect(session.ensure(other)).rejects.toMatchObject({ reason: 'OwnedByAnother' });
    await session.remove(other);
    await session.ensure(mysqlTenancy('Team', { user: 'upper' }));
    await session.remove(mysqlTenancy('Team', { user: 'upper' }));
    await session.ensure(other);
  }, 60_000);
});

test('reports a server without access control, or with gaps in its ids', async () => {
  await using open = await startMariadb({ settings: { 'skip-grant-tables': '1' } });
  await using session = await openMysql(mysqlConfigOf(open));
  await expect(session.ping()).rejects.toMatchObject({ reason: 'Unauthorized' });
  await expect(session.ping()).rejects.toThrow(/--skip-grant-tables/);
  await using gaps = await startMariadb({ settings: { 'auto-increment-increment': '3' } });
  await using other = await openMysql(mysqlConfigOf(gaps));
  expect((await other.ping()).notes?.join()).toContain('auto_increment_increment is 3');
}, 60_000);

test('can do everything as an administrator with exactly the required permissions', async () => {
  await using server = await startMariadb();
  const rights = [
    ...['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'CREATE', 'ALTER', 'DROP', 'LOCK TABLES', 'PROCESS', 'CREATE USER'],
    ...['CONNECTION ADMIN', 'TRIGGER', 'EVENT'],
  ];
  await server.sql(
    "CREATE USER steward@'%' IDENTIFIED BY 'x'",
    `GRANT ${rights.join(', ')} ON *.* TO steward@'%' WITH GRANT OPTION`,
  );
  const config = mysqlConfigOf(server);
  await using session = await openMysql({ ...config, username: 'steward', password: 'x' });
  expect((await session.ping()).supported).toBe(true);
  const [tenancy, adopted] = [mysqlTenancy('tenant'), mysqlTenancy('adopted')];
  await makeAsGoSteward(config, adopted);
  for (const one of [tenancy, { ...adopted, adopt: true }]) {
    await session.ensure(one);
    const client = await rawMysql(config, tenantLogin({ tenancy: one, tls: undefined }));
    {
      await using data = await session.data?.(one);
      await data?.beginWrites();
      await data?.write([{ is: 'put', entry: { key: 'a', value: Buffer.from('x') } }]);
      await data?.raise(1000n);
      await data?.endWrites();
      await data?.fence();
      expect(await data?.count()).toBe(1);
      await data?.unfence();
    }
    await session.revoke?.(one);
    await session.ensure(one);
    await session.remove(one);
    client.destroy();
  }
}, 60_000);

describe('The MySQL driver with TLS', () => {
  const byAddress = (ca: KeyPair): Promise<KeyPair> =>
    issue({ commonName: 'db', usages: ['serverAuth'], ipAddresses: ['127.0.0.1'], dnsNames: ['db.example'] }, ca, {
      algorithm: 'ECDSA-P256',
      lifetime: lifetimeFrom(new Date(), 86_400_000),
    });

  test('accepts a server only under the address or the name in its certificate', async () => {
    await using server = await startMariadb({ tls: true, certificate: byAddress });
    const config = mysqlConfigOf(server);
    await using known = await openMysql(config);
    expect((await known.ping()).supported).toBe(true);
    await using unknown = await openMysql({ ...config, endpoints: [mysqlEndpoint(server.port, 'localhost')] });
    await expect(unknown.ping()).rejects.toMatchObject({ reason: 'Unauthorized' });
    await expect(unknown.ping()).rejects.toThrow(/its name to the certificate/);
  }, 60_000);

  test('requires TLS of an existing tenant only after its pods had time to be replaced', async () => {
    await using server = await startMariadb({ tls: true });
    const config = mysqlConfigOf(server);
    const { tls, ...plain } = config;
    const tenancy = mysqlTenancy('lived');
    const logIn = async (ca?: string): Promise<void> => {
      const client = await rawMysql(config, { ...tenantLogin({ tenancy, tls: undefined }), ca });
      client.destroy();
    };
    await using unencrypted = await openMysql(plain);
    await unencrypted.ensure(tenancy);
    await using encrypted = await openMysql(config);
    for (let reconcile = 0; reconcile < 2; reconcile += 1) {
      await encrypted.ensure(tenancy);
      await logIn();
      await logIn(tls?.ca);
    }
    await server.sql(`UPDATE ${identifier(ownershipSchema)}.tenancies SET encrypted_from = UTC_TIMESTAMP()`);
    await encrypted.ensure(tenancy);
    await expect(logIn()).rejects.toMatchObject({ errno: 1045 });
    await logIn(tls?.ca);
    await unencrypted.ensure(tenancy);
    await logIn();
  }, 60_000);

  test('connects to a server that accepts only encrypted connections', async () => {
    await using server = await startMariadb({ tls: true });
    await server.sql('SET GLOBAL require_secure_transport = ON');
    const { tls, ...plain } = mysqlConfigOf(server);
    await using secure = await openMysql({ ...plain, tls });
    await secure.ping();
    await using session = await openMysql(plain);
    await expect(session.ping()).rejects.toThrow(/spec\.tlsConfig is not set/);
  }, 60_000);
});

test('gives up a server that accepts connections and never answers', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', resolve);
  });
  try {
    const { port } = silent.address() as AddressInfo;
    await using session = await openMysql({ endpoints: [mysqlEndpoint(port)], username: 'root', password: 'x' });
    await expect(session.ping()).rejects.toMatchObject({ reason: 'Unreachable' });
  } finally {
    silent.close();
  }
}, 20_000);
