import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startNatsDataStore } from '../../testing/contracts/stores/nats/data-store.ts';
import type { NatsDataStore } from '../../testing/contracts/stores/nats/data-store.ts';
import { eventually } from '../../testing/eventually.ts';
import { ask, contextOf, rawNatsClient } from './isolation/raw-client.ts';
import type { Session, Tenancy } from '../driver.ts';
import { signClaims } from './claims.ts';
import type { AccountAccess, NatsConfig } from './config.ts';
import { credentialsParts, userIssuedAt } from './credentials-file.ts';
import { natsDriver } from './driver.ts';
import { operatorKey, registryAccount, registryCredentials } from './grants.ts';
import { derivedNkey } from './nkey.ts';

const tenancy: Tenancy = { schema: 'tenant', user: 'tenant', owner: 'uid-1', password: 'unused' };
const neighbor: Tenancy = { schema: 'neighbor', user: 'neighbor', owner: 'uid-2', password: 'unused' };
let store: NatsDataStore;
let config: NatsConfig;
let session: Session;

beforeAll(async () => {
  store = await startNatsDataStore({ auth: 'accounts' });
  config = await natsDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  session = await natsDriver.open(config, new AbortController().signal);
  await session.ensure(tenancy);
}, 60_000);
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

const access = (): AccountAccess => {
  if (!('operatorSeed' in config.access)) throw new Error('the DataStore has no operator key');
  return config.access;
};
/** The answer to a user who requests the names of all buckets. */
const listBuckets = async (jwt: string, seed: string): Promise<unknown> => {
  const client = await rawNatsClient(config, { user_jwt: jwt, user_seed: seed });
  try {
    return await ask(client, '$JS.API.STREAM.NAMES');
  } finally {
    await client.close();
  }
};

test('a user of the registry’s account whose JWT grants nothing has no permissions', async () => {
  const user = derivedNkey('user', operatorKey(access()), ['somebody']);
  const nats = { issuer_account: registryAccount, type: 'user', version: 2, subs: -1, data: -1, payload: -1 };
  const signer = derivedNkey('account', operatorKey(access()), ['registry']);
  const jwt = signClaims(signer, { subject: user.publicKey, issuedAt: userIssuedAt, nats });
  const { jwt: ours, seed } = credentialsParts(registryCredentials(access()));
  await expect(listBuckets(ours, seed)).resolves.toMatchObject({ streams: ['KV_steward-tenancies'] });
  await expect(listBuckets(jwt, user.seed)).rejects.toThrow(/permissions violation/i);
});

test('a tenant has 64 connections and no more, which takes none from its neighbor', async () => {
  await session.ensure(neighbor);
  const open = (one: Tenancy): ReturnType<typeof rawNatsClient> => rawNatsClient(config, contextOf(config, one));
  const all = await Promise.all(Array.from({ length: 64 }, () => open(tenancy)));
  // The server closes the connection while the client still sends, so that its reason may be lost.
  await expect(open(tenancy)).rejects.toThrow(/maximum account active connections exceeded|EPIPE|ECONNRESET/i);
  await (await open(neighbor)).close();
  // Those that there are go on, and one that ends makes room.
  for (const client of all) await client.flush();
  await all[0]?.close();
  // The server learns of that a moment later.
  all[0] = await eventually(() => open(tenancy));
  for (const client of all) await client.close();
}, 60_000);
