import { describe, expect, test } from '@jest/globals';
import { describeMysql } from '../../testing/contracts/stores/mysql/data-store.ts';
import type { Tenancy } from '../driver.ts';
import { mysqlDriver } from './driver.ts';
import type { MysqlConfig } from './driver.ts';

const tenancy: Tenancy = { schema: 'alpha', user: 'alpha-user', owner: 'uid', password: 'Pw' };
const configure = (endpoints: readonly string[]): Promise<MysqlConfig> =>
  mysqlDriver.configure(describeMysql(endpoints, { username: 'root', password: 'very secret words' }), () =>
    Promise.resolve(undefined),
  );

describe('bind', () => {
  test('gives kine the first endpoint, names without values, and a limit for its connections', async () => {
    const binding = mysqlDriver.bind(await configure(['db-0:3306', 'db-1:3306']), tenancy);
    expect(binding).toMatchObject({
      kind: 'kine',
      connection: 'db-0:3306',
      arguments: { 'datastore-max-open-connections': '10' },
    });
    const text = JSON.stringify(binding);
    expect(text).toContain('mysql://$(DB_USER):$(DB_PASSWORD)@tcp($(DB_CONNECTION_STRING))/$(DB_SCHEMA)?');
    for (const secret of ['very secret words', 'alpha', 'Pw']) expect(text).not.toContain(secret);
  });

  test('writes an IPv6 address as Go parses it', async () => {
    const binding = mysqlDriver.bind(await configure(['[fd00::1]:3306']), tenancy);
    expect(binding).toMatchObject({ connection: '[fd00::1]:3306' });
  });
});
