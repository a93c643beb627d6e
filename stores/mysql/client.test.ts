import { describe, expect, test } from '@jest/globals';
import type { LoginConfig } from '../login-config.ts';
import { MysqlClient } from './client.ts';
import type { MysqlConnection, OpenMysql } from './connection.ts';
import { MysqlError } from './errors.ts';

/** Servers by name: how each answers now. */
type Servers = Record<string, 'writable' | 'replica' | 'dead' | 'wrong password' | 'no room'>;

const endpoint = (name: string): LoginConfig['endpoints'][number] => ({ name, host: name, port: 1 });
const config: LoginConfig = { endpoints: [endpoint('a'), endpoint('b')], username: 'root', password: 'x' };

/** A client of servers in memory, and the names of those that are connected. */
function clientOf(servers: Servers): { readonly client: MysqlClient; readonly connected: string[] } {
  const connected: string[] = [];
  const open: OpenMysql = ({ endpoint: { name } }) => {
    if (servers[name] === 'dead') return Promise.reject(new MysqlError('ECONNREFUSED', undefined, 'ECONNREFUSED'));
    if (servers[name] === 'wrong password') return Promise.reject(new MysqlError('', 1045, 'Access denied'));
    if (servers[name] === 'no room') return Promise.reject(new MysqlError('', 1226, 'max_user_connections'));
    connected.push(name);
    const close = (): void => {
      connected.splice(connected.indexOf(name), 1);
    };
    const connection: MysqlConnection = {
      endpoint: name,
      facts: { version: { flavor: 'MySQL', number: '8.4.0' }, foldsNames: false },
      isReadOnly: () => {
        if (servers[name] === 'dead') return Promise.reject(new MysqlError('ECONNRESET', undefined, 'ECONNRESET'));
        return Promise.resolve(servers[name] === 'replica');
      },
      rows: () => Promise.resolve([]),
      change: () => Promise.resolve(0),
      run: () => Promise.resolve([]),
      destroy: close,
      [Symbol.asyncDispose]: () => {
        close();
        return Promise.resolve();
      },
    };
    return Promise.resolve(connection);
  };
  return { client: new MysqlClient(config, open), connected };
}

const where = (client: MysqlClient): Promise<string> =>
  client.use('ask', ({ endpoint: name }) => Promise.resolve(name));

describe('MysqlClient', () => {
  test('prefers the first server that accepts writes, and keeps one connection to it', async () => {
    const { client, connected } = clientOf({ a: 'replica', b: 'writable' });
    expect(await where(client)).toBe('b');
    expect(await where(client)).toBe('b');
    expect(connected).toEqual(['b']);
  });

  test('moves on when its server dies or becomes a replica, and back', async () => {
    const servers: Servers = { a: 'writable', b: 'writable' };
    const { client, connected } = clientOf(servers);
    expect(await where(client)).toBe('a');
    servers.a = 'dead';
    expect(await where(client)).toBe('b');
    Object.assign(servers, { a: 'writable', b: 'replica' });
    expect(await where(client)).toBe('a');
    expect(connected).toEqual(['a']);
  });

  test('repeats work once over a new connection when the old one is lost, and no other work', async () => {
    const { client } = clientOf({ a: 'writable', b: 'dead' });
    let tries = 0;
    const losing = client.use('try', () => {
      tries += 1;
      return tries === 1 ? Promise.reject(new MysqlError('EPIPE', undefined, 'EPIPE')) : Promise.resolve(tries);
    });
    expect(await losing).toBe(2);
    tries = 0;
    const refused = client.use('try', () => {
      tries += 1;
      return Promise.reject(new MysqlError('', 1142, 'denied'));
    });
    await expect(refused).rejects.toMatchObject({ name: 'StoreError', reason: 'Unauthorized' });
    expect(tries).toBe(1);
  });

  test('reports for every server why it cannot be used, and connects again the next time', async () => {
    const servers: Servers = { a: 'dead', b: 'replica' };
    const { client } = clientOf(servers);
    await expect(where(client)).rejects.toThrow(/a: ECONNREFUSED; b: the server is a replica/);
    servers.a = 'writable';
    expect(await where(client)).toBe('a');
  });

  test('leaves no connection behind', async () => {
    const { client, connected } = clientOf({ a: 'writable', b: 'writable' });
    await where(client);
    await client.failures();
    await client[Symbol.asyncDispose]();
    expect(connected).toEqual([]);
  });

  test.each([
    ['writable', true],
    ['wrong password', false],
    ['no room', true],
  ] as const)('checks the password of a %s account', async (state, right) => {
    const servers: Servers = { a: 'writable', b: 'dead' };
    const { client } = clientOf(servers);
    const known = client.use('ask', (connection) => {
      servers.a = state;
      return client.admits(connection, 'tenant', 'password');
    });
    expect(await known).toBe(right);
  });

  test('does not report a password as wrong if the server cannot be reached', async () => {
    const servers: Servers = { a: 'writable', b: 'dead' };
    const { client } = clientOf(servers);
    const unknown = client.use('ask', (connection) => {
      servers.a = 'dead';
      return client.admits(connection, 'tenant', 'password');
    });
    await expect(unknown).rejects.toMatchObject({ reason: 'Unreachable' });
  });
});
