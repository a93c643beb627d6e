import { describe, expect, test } from '@jest/globals';
import { cockroachDriver } from './driver.ts';

const config = {
  endpoints: [{ name: 'db.example.org:26257', host: 'db.example.org', port: 26257 }],
  username: 'steward',
  password: 'hidden',
};
const tenancy = { schema: 'tenant', user: 'tenant', owner: '00000000-0000-4000-8000-000000000001' };

describe('the driver of CockroachDB', () => {
  test('has kine dial the datastore as a PostgreSQL, without credentials in the flag', () => {
    expect(cockroachDriver.bind(config, tenancy)).toEqual({
      kind: 'kine',
      endpoint: 'postgres://$(DB_USER):$(DB_PASSWORD)@$(DB_CONNECTION_STRING)/$(DB_SCHEMA)?sslmode=verify-full',
      connection: 'db.example.org:26257',
    });
  });

  test('says by name which call is not implemented', async () => {
    await using session = await cockroachDriver.open(config, new AbortController().signal);
    await expect(session.ping()).rejects.toMatchObject({
      name: 'StoreError',
      reason: 'Failed',
      message: 'driver CockroachDB: ping is not implemented',
    });
  });
});
