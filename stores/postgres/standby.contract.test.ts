import { describe, expect, jest, test } from '@jest/globals';
import { startPostgresUnderTest } from '../../testing/contracts/stores/postgres/store-under-test.ts';
import { startPostgres } from '../../testing/servers/postgres-server.ts';
import type { Session } from '../driver.ts';
import type { LoginConfig } from '../login-config.ts';
import { postgresDriver } from './driver.ts';

jest.setTimeout(60_000);

const open = (config: LoginConfig): Promise<Session> => postgresDriver.open(config, new AbortController().signal);
const at = (port: number): LoginConfig['endpoints'][number] => ({
  name: `127.0.0.1:${port}`,
  host: '127.0.0.1',
  port,
});

describe('The PostgreSQL driver with a standby', () => {
  test('uses the server that accepts writes, also after a failover', async () => {
    await using store = await startPostgresUnderTest({ tls: true });
    await using standby = await startPostgres({ standbyOf: store.server });
    const config = { ...store.config, endpoints: [at(standby.port), at(store.server.port)] };
    await using session = await open(config);
    expect((await session.ping()).notes).toBeUndefined();
    const tenancy = { schema: 'a', user: 'a', owner: 'uid', password: 'x' };
    await session.ensure(tenancy);
    await store.server.sql('SELECT pg_switch_wal()');
    await store.server.kill();
    const error = { reason: 'Unreachable', message: expect.stringMatching(/accepts no writes.*ECONNREFUSED/s) };
    await expect(session.ping()).rejects.toMatchObject(error);
    await standby.promote();
    expect((await session.ping()).notes?.join()).toContain(`127.0.0.1:${store.server.port}`);
    await session.ensure({ ...tenancy, schema: 'b', user: 'b' });
    await session.remove({ ...tenancy, schema: 'b', user: 'b' });
  });
});
