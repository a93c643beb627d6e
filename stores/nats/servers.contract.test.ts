import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { startNatsDataStore } from '../../testing/contracts/stores/nats/data-store.ts';
import type { NatsDataStore } from '../../testing/contracts/stores/nats/data-store.ts';
import { patient } from '../../testing/patient.ts';
import { contextOf, rawNatsClient } from './isolation/raw-client.ts';
import { natsHand } from './isolation/nats-hand.ts';
import type { Session, Tenancy } from '../driver.ts';
import type { TenantHand } from '../driver.ts';
import { userIssuedAt } from './credentials-file.ts';
import { signClaims } from './claims.ts';
import { NatsClient } from './client.ts';
import type { AccountAccess, NatsConfig } from './config.ts';
import { natsDriver } from './driver.ts';
import { NatsSystem } from './system.ts';
import { derivedNkey } from './nkey.ts';
import { operatorJwt } from './operator.ts';
import { tenantAccount } from './grants.ts';

const tenant = (name: string, password = 'p'): Tenancy => ({
  schema: name,
  user: name,
  owner: `uid-${name}`,
  password,
});

interface Opened extends AsyncDisposable {
  readonly config: NatsConfig;
  readonly access: AccountAccess;
  readonly session: Session;
}

async function opened({ dataStore }: NatsDataStore): Promise<Opened> {
  const config = await natsDriver.configure(dataStore, () => Promise.resolve(undefined));
  const { access } = config;
  if (access.mode !== 'accounts') throw new Error('this store has accounts');
  const session = await natsDriver.open(config, new AbortController().signal);
  return { config, access, session, [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() };
}

/** What became of something within a minute that servers need a moment for. */
async function eventually(isSo: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + patient(60_000);
  while (performance.now() < end) {
    if (await isSo()) return true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return false;
}

describe('A NATS that is not configured for accounts', () => {
  const cases: readonly (readonly [name: string, edit: (config: string) => string, message: RegExp])[] = [
    [
      'keeps accounts in memory',
      (config) => config.replace(/resolver \{[^}]*\}/, 'resolver: MEMORY'),
      /accept no accounts: configure resolver with type: full/,
    ],
    ['forgets no accounts', (config) => config.replace(/ {2}(?:allow|hard)_delete: true\n/g, ''), /allow_delete: true/],
    ['has no JetStream', (config) => config.replace(/jetstream \{[^}]*\}/, ''), /JetStream is disabled/],
  ];
  test.each(cases)('is reported if it %s', async (_, edit, message) => {
    await using store = await startNatsDataStore({ auth: 'accounts', edit });
    await using subject = await opened(store);
    await expect(subject.session.ping()).rejects.toMatchObject({ reason: 'Unsupported' });
    await expect(subject.session.ping()).rejects.toThrow(message);
  });

  test('is reported if large objects do not fit', async () => {
    const edit = (config: string): string => config.replace('max_payload: 8MB', '');
    await using store = await startNatsDataStore({ auth: 'accounts', edit });
    await using subject = await opened(store);
    expect((await subject.session.ping()).notes?.join()).toContain('max_payload');
  });
});

describe('The storage of a NATS', () => {
  test('is reserved for each tenant: one tenant too many is refused with a reason, leaves nothing, and fits once another is gone', async () => {
    // 64 MiB for the registry and for each tenant.
    await using store = await startNatsDataStore({ auth: 'accounts', storage: '200MiB' });
    await using subject = await opened(store);
    const { session } = subject;
    await session.ensure(tenant('one'));
    await session.ensure(tenant('two'));
    await expect(session.ensure(tenant('three'))).rejects.toMatchObject({ reason: 'Failed' });
    await expect(session.ensure(tenant('three'))).rejects.toThrow(/max_file_store.*storagePerTenant/);
    await session.remove(tenant('three'));
    await session.ensure(tenant('two'));
    await session.remove(tenant('two'));
    await session.ensure(tenant('three'));
    await using hand = await natsHand(subject.config, tenant('three'));
    await hand.write('a', 'x');
  }, 60_000);

  test('of one tenant is full for that tenant only, and its data can be removed', async () => {
    await using store = await startNatsDataStore({ auth: 'accounts' });
    await using subject = await opened(store);
    const { session, config } = subject;
    const [greedy, neighbor] = [tenant('greedy'), tenant('neighbor')];
    await session.ensure(greedy);
    await session.ensure(neighbor);
    await using hand = await natsHand(config, greedy);
    await using other = await natsHand(config, neighbor);
    const megabytes = 'x'.repeat(4 * 1024 * 1024);
    let written = 0;
    await expect(
      (async () => {
        for (; written < 40; written += 1) await hand.write(`k${written}`, megabytes);
      })(),
    ).rejects.toThrow(/resource limits exceeded|maximum bytes/);
    expect(written).toBeGreaterThan(10);
    await other.write('a', 'x');
    expect(await hand.read('k0')).toBe(megabytes);
    await session.remove(greedy);
    await session.ensure(tenant('later'));
  }, 60_000);
});

describe('The key of an operator', () => {
  test('can be changed: accounts and data stay, and what the previous key signed is no longer accepted', async () => {
    const next = (store: NatsDataStore) => derivedNkey('operator', store.server.keys.operator, ['next']);
    const both = (config: string): string => {
      const jwt = /operator: "(.*)"/.exec(config)?.[1] ?? '';
      return config.replace(jwt, () => jwts.get(jwt) ?? jwt);
    };
    const jwts = new Map<string, string>();
    await using store = await startNatsDataStore({
      auth: 'accounts',
      edit: (config) => both(config),
      prepare: (keys) => {
        const { operator, signing, system } = keys;
        const nats = {
          signing_keys: [signing.publicKey, derivedNkey('operator', operator, ['next']).publicKey],
          system_account: system.publicKey,
          strict_signing_key_usage: true,
          type: 'operator',
          version: 2,
        };
        const claims = { subject: operator.publicKey, name: 'steward', issuedAt: userIssuedAt, nats };
        jwts.set(operatorJwt(keys), signClaims(operator, claims));
      },
    });
    await using subject = await opened(store);
    const { session, config, access } = subject;
    const one = tenant('one');
    await session.ensure(one);
    await using before = await natsHand(config, one);
    await before.write('a', 'kept');
    const rotated: NatsConfig = { ...config, access: { ...access, operatorSeed: next(store).seed } };
    await using later = await natsDriver.open(rotated, new AbortController().signal);
    expect(await later.ping()).toMatchObject({ supported: true });
    await later.ensure(one);
    await using after = await natsHand(rotated, one);
    expect(await after.read('a')).toBe('kept');
    await expect(natsHand(config, one)).rejects.toMatchObject({ name: 'AuthorizationError' });
    await expect(before.read('a')).rejects.toBeDefined();
    await later.remove(one);
    await expect(natsHand(rotated, one)).rejects.toMatchObject({ name: 'AuthorizationError' });
  }, 60_000);
});

describe('A NATS of three servers', () => {
  test('continues while one is down, which catches up later, and removes nothing without it', async () => {
    await using store = await startNatsDataStore({ auth: 'accounts', tls: 'server', servers: 3 });
    const { server } = store;
    await using subject = await opened(store);
    const { session, config, access } = subject;
    expect(await session.ping()).toMatchObject({ supported: true });
    const [one, two] = [tenant('one', 'first'), tenant('two')];
    await session.ensure(one);
    await using hand = await natsHand(config, one);
    await hand.write('a', 'x');
    await server.kill(2);
    expect(await eventually(async () => ((await session.ping()).notes ?? []).join().includes('nats-2'))).toBe(true);
    const rotated = tenant('one', 'second');
    // Streams that it led have to elect another leader first.
    const ensured = (tenancy: Tenancy) => (): Promise<boolean> =>
      session.ensure(tenancy).then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ reason: 'Unreachable' });
          return false;
        },
      );
    expect(await eventually(ensured(rotated))).toBe(true);
    expect(await eventually(ensured(two))).toBe(true);
    await expect(session.remove(two)).rejects.toMatchObject({ reason: 'Unreachable' });
    await expect(session.remove(two)).rejects.toThrow(/nats-2 is offline/);
    await server.restart(2);
    const [, , third = ''] = config.endpoints;
    const alone = { ...config, endpoints: [third] };
    const enters = async (tenancy: Tenancy): Promise<boolean> => {
      try {
        await (await rawNatsClient(alone, contextOf(config, tenancy))).close();
        return true;
      } catch (error) {
        if (error instanceof Error && /Authorization|EPIPE|ECONNRESET/.test(`${error.name} ${error.message}`))
          return false;
        throw error;
      }
    };
    expect(await eventually(() => enters(rotated))).toBe(true);
    expect(await eventually(async () => !(await enters(one)))).toBe(true);
    expect(await eventually(async () => (await session.ping()).notes === undefined)).toBe(true);
    await session.remove(two);
    await session.remove(rotated);
    const login = { credentials: access.systemCredentials };
    for (const endpoint of config.endpoints) {
      await using client = new NatsClient({ ...config, endpoints: [endpoint], login, loginName: 'the test' });
      const system = new NatsSystem(client, access);
      for (const { schema } of [one, two])
        expect(await system.account(tenantAccount(schema))).toEqual([undefined, undefined, undefined]);
    }
  }, 180_000);

  test('fences a tenant on every server', async () => {
    await using store = await startNatsDataStore({ auth: 'accounts', servers: 3 });
    await using subject = await opened(store);
    const { session, config } = subject;
    const one = tenant('one');
    await session.ensure(one);
    const hands = await Promise.all(
      config.endpoints.map((endpoint) => natsHand({ ...config, endpoints: [endpoint] }, one)),
    );
    // Servers learn one after the other who listens for the new bucket.
    const written = (hand: TenantHand, key: string) => (): Promise<boolean> =>
      hand.write(key, 'before').then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ message: expect.stringContaining('no responders') });
          return false;
        },
      );
    for (const [index, hand] of hands.entries()) expect(await eventually(written(hand, `k${index}`))).toBe(true);
    await using data = await session.data?.(one);
    await data?.fence();
    for (const hand of hands) await expect(hand.write('k0', 'after')).rejects.toThrow(/violation/i);
    for (const [index, hand] of hands.entries()) expect(await hand.read(`k${index}`)).toBe('before');
    await data?.unfence();
    for (const [index, hand] of hands.entries()) await hand.write(`k${index}`, 'again');
    for (const hand of hands) await hand[Symbol.asyncDispose]();
  }, 120_000);
});

describe('A NATS that was restarted', () => {
  test('is used by the same session, and its tenants find their data', async () => {
    await using store = await startNatsDataStore({ auth: 'accounts' });
    await using subject = await opened(store);
    const { session, config } = subject;
    const one = tenant('one');
    await session.ensure(one);
    {
      await using hand = await natsHand(config, one);
      await hand.write('a', 'kept');
    }
    await store.server.kill();
    await expect(session.ensure(one)).rejects.toMatchObject({ reason: 'Unreachable' });
    await expect(session.remove(one)).rejects.toMatchObject({ reason: 'Unreachable' });
    await store.server.restart();
    await session.ensure(one);
    await using hand = await natsHand(config, one);
    expect(await hand.read('a')).toBe('kept');
    await session.remove(one);
    const [log = ''] = await Promise.all(store.server.logs.map((path) => readFile(path, 'utf8')));
    expect(log).not.toContain('Violation');
  }, 60_000);
});
