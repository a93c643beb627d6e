import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../api/as-stored.ts';
import { startNatsDataStore } from '../../testing/contracts/stores/nats/data-store.ts';
import type { NatsDataStore } from '../../testing/contracts/stores/nats/data-store.ts';
import { startKine } from '../../testing/servers/kine-server.ts';
import { startNats } from '../../testing/servers/nats-server.ts';
import { clientPair } from '../../testing/servers/server-certificates.ts';
import { apiServerHand } from '../../testing/contracts/stores/api-server-client.ts';
import { kineRoot } from '../kine/kine-keys.ts';
import type { KineBinding, Session, Tenancy } from '../driver.ts';
import { keepBucket, listStreams } from './ensure-bucket.ts';
import { encodeEntry } from './data/kine-entry.ts';
import { entrySubject } from './data/kine-keys.ts';
import { NatsClient } from './client.ts';
import type { NatsConfig } from './config.ts';
import { natsDriver } from './driver.ts';
import { natsHand } from './isolation/nats-hand.ts';
import { natsProbe } from './isolation/probe.ts';
import { ask, contextOf, rawNatsClient, readDirect } from './isolation/raw-client.ts';

const noSecrets = (): Promise<undefined> => Promise.resolve(undefined);
/** What URLs, shells and configuration files take for something else. */
const auth = { user: 'steward', password: 'p@:/?#%41&$x"{}' };
const first: Tenancy = { schema: 'first', user: 'first', owner: 'uid-1', password: 'unused' };
const second: Tenancy = { schema: 'second', user: 'second', owner: 'uid-2', password: 'unused' };

describe('A NATS with one login', () => {
  let store: NatsDataStore;
  let config: NatsConfig;
  let session: Session;
  let administrator: NatsClient;

  beforeAll(async () => {
    store = await startNatsDataStore({ auth });
    config = await natsDriver.configure(store.dataStore, noSecrets);
    session = await natsDriver.open(config, new AbortController().signal);
    administrator = new NatsClient({ ...config, login: auth, loginName: 'the test' });
  }, 60_000);
  afterAll(async () => {
    await administrator[Symbol.asyncDispose]();
    await session[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  // Each test has tenants of its own, as after a change of the login.
  afterEach(async () => {
    const filter = '$KV.steward-tenancies.logins';
    await administrator.api('delete the record of credentials', 'STREAM.PURGE.KV_steward-tenancies', { filter });
  });

  const streams = (): Promise<readonly string[]> => listStreams(administrator);

  test('serves one tenant, and refuses a second one with the reason and a fix', async () => {
    await session.ensure(first);
    await session.ensure(first);
    for (const other of [
      second,
      { ...second, adopt: true },
      { ...first, owner: 'uid-2' },
      { ...first, user: 'other' },
    ]) {
      await expect(session.ensure(other)).rejects.toMatchObject({ name: 'StoreError', reason: 'SingleTenant' });
      await session.remove(other);
    }
    await expect(session.ensure(second)).rejects.toThrow(
      /a single set of credentials.*owner has UID uid-1.*spec\.nats\.operatorKey/,
    );
    expect(await streams()).toEqual(['KV_first', 'KV_steward-tenancies']);
    const { signal } = new AbortController();
    expect((await session.measure(first, signal))?.bytes).toBe(0);
    await expect(session.measure(second, signal)).rejects.toMatchObject({ reason: 'OwnedByAnother' });
    await session.remove(first);
    expect(await session.measure(first, signal)).toBeUndefined();
    await session.remove(first);
    expect(await streams()).toEqual(['KV_steward-tenancies']);
    await session.ensure(first);
    await session.remove(first);
  });

  test('serves exactly one of several concurrent tenants', async () => {
    const rivals = Array.from({ length: 8 }, (_, index): Tenancy => ({
      ...first,
      schema: `r${index}`,
      owner: `uid-r${index}`,
    }));
    const outcomes = await Promise.allSettled(rivals.map((rival) => session.ensure(rival)));
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    const winner = rivals[outcomes.findIndex((outcome) => outcome.status === 'fulfilled')];
    expect(await streams()).toEqual([`KV_${winner?.schema ?? ''}`, 'KV_steward-tenancies']);
    for (const rival of rivals) await session.remove(rival);
    expect(await streams()).toEqual(['KV_steward-tenancies']);
  });

  test('accepts a bucket that kine created before owners were recorded', async () => {
    await keepBucket(administrator, 'first', 1);
    await expect(session.ensure(second)).rejects.toMatchObject({ reason: 'SingleTenant' });
    await expect(session.ensure(first)).rejects.toMatchObject({ reason: 'OwnedByAnother' });
    await expect(session.remove(first)).rejects.toMatchObject({ reason: 'OwnedByAnother' });
    await session.ensure({ ...first, adopt: true });
    await session.remove(first);
    expect(await streams()).toEqual(['KV_steward-tenancies']);
  });

  test('restores the settings with which kine starts, and keeps the content of the bucket', async () => {
    const subjects = ['$KV.first.>'];
    await administrator.api('make', 'STREAM.CREATE.KV_first', { name: 'KV_first', subjects, max_msgs_per_subject: 1 });
    const kept = {
      key: '/registry/pods/kept',
      value: Buffer.from('kept'),
      lease: 0,
      createRevision: 0,
      prevRevision: 0,
    };
    await administrator.store('write', entrySubject('first', 'pods/kept'), encodeEntry({ ...kept, is: 'created' }));
    await session.ensure({ ...first, adopt: true });
    const binding = natsDriver.bind(config, first) as KineBinding;
    await using kine = await startKine({ binding, tenancy: first });
    await using hand = apiServerHand(kine.client, kineRoot, () => Promise.resolve());
    await hand.put('pods/a', Buffer.from('x'));
    expect(await hand.get('pods/kept')).toEqual(Buffer.from('kept'));
    await kine.kill();
    await session.remove(first);
  }, 60_000);

  test('refuses the names of its own records', async () => {
    const names = { schema: 'steward-tenancies', user: 'x' };
    await expect(session.ensure({ ...first, ...names })).rejects.toMatchObject({ reason: 'InvalidName' });
  });

  test('reports its size and version, and wrong credentials', async () => {
    await session.ensure(first);
    expect(await session.ping()).toMatchObject({ supported: true, version: '2.15.2', sizeBytes: expect.any(Number) });
    for (const access of [{ mode: 'login' as const }, { mode: 'login' as const, user: 'steward', password: 'wrong' }]) {
      await using broken = await natsDriver.open({ ...config, access }, new AbortController().signal);
      await expect(broken.ping()).rejects.toMatchObject({ reason: 'Unauthorized' });
      await expect(broken.ping()).rejects.not.toThrow(/wrong/);
    }
    await session.remove(first);
  });

  test('migrates its tenant away: reads its data, and fences a running kine, which continues to read', async () => {
    await session.ensure(first);
    const binding = natsDriver.bind(config, first) as KineBinding;
    await using kine = await startKine({ binding, tenancy: first });
    await using hand = apiServerHand(kine.client, kineRoot, () => Promise.resolve());
    await hand.put('pods/a', Buffer.from('1'));
    await using data = await session.data?.(first);
    await data?.fence();
    await expect(hand.put('pods/a', Buffer.from('2'))).rejects.toBeDefined();
    await session.ensure(first);
    await expect(hand.put('pods/b', Buffer.from('2'))).rejects.toBeDefined();
    expect(await hand.get('pods/a')).toEqual(Buffer.from('1'));
    expect(await data?.count()).toBe(1);
    await data?.unfence();
    await hand.put('pods/a', Buffer.from('3'));
    await kine.kill();
    await session.remove(first);
  }, 60_000);

  test('lets two tenants read and overwrite each other’s keys, if both had its credentials', async () => {
    for (const { schema } of [first, second]) await keepBucket(administrator, schema, 1);
    for (const [reader, holder] of [
      [first, second],
      [second, first],
    ] as const) {
      await using mine = await natsHand(config, holder);
      await mine.write('a', `of ${holder.schema}`);
      // The login of one, used on the bucket of the other.
      const { user, password } = contextOf(config, reader);
      expect({ user, password }).toEqual(auth);
      const client = await rawNatsClient(config, contextOf(config, reader));
      const key = `$KV.${holder.schema}.a`;
      const found = await readDirect(client, `$JS.API.DIRECT.GET.KV_${holder.schema}.${key}`);
      expect(found?.string()).toBe(`of ${holder.schema}`);
      await ask(client, key, `by ${reader.schema}`);
      expect(await mine.read('a')).toBe(`by ${reader.schema}`);
      await client.close();
    }
    for (const { schema } of [first, second]) await administrator.api('delete', `STREAM.DELETE.KV_${schema}`);
  });

  test('fails the attacks of the contract when two tenants share its credentials', async () => {
    for (const { schema } of [first, second]) await keepBucket(administrator, schema, 1);
    await using victimHand = await natsHand(config, second);
    await victimHand.write('a', 'of the victim');
    await using attack = await natsProbe.attack(
      config,
      { tenancy: first, tls: undefined },
      { tenancy: second, tls: undefined },
    );
    const attempts = attack.lanes.flat();
    const run = async (wanted: string): Promise<unknown> => {
      const attempt = attempts.find(({ name }) => name === wanted);
      if (attempt === undefined) throw new Error(`no attempt is named ${wanted}`);
      return attempt.run();
    };
    // For this reason, such a DataStore is never verified, and serves one tenant.
    expect(natsDriver.capabilities.servesOneTenant(store.dataStore.spec)).toBe(true);
    await expect(run('write a key of another tenant')).resolves.toBeDefined();
    await expect(run('read a key of another tenant')).resolves.toBeDefined();
    expect(natsProbe.isRefusal(await run('log in without credentials').catch((error: unknown) => error))).toBe(true);
    for (const { schema } of [first, second]) await administrator.api('delete', `STREAM.DELETE.KV_${schema}`);
  });
});

describe('A NATS whose login is a client certificate', () => {
  const mapped = (config: string): string =>
    config
      .replace('  verify: true', '  verify_and_map: true')
      .replace(/ {2}user: .*\n {2}password: .*\n/, '  users: [{ user: "CN=steward" }]\n');

  test('serves one tenant, whose kine presents the same certificate', async () => {
    await using server = await startNats({ auth, tls: 'verify', edit: mapped });
    const { tls } = server;
    if (tls === undefined) throw new Error('this server has TLS');
    const content = (text: string) => ({ content: Buffer.from(text).toString('base64') });
    const store = (pair: typeof tls.client) => ({
      apiVersion: 'steward.butlerlabs.dev/v1alpha1' as const,
      kind: 'DataStore' as const,
      metadata: storedMeta({ name: 'nats' }),
      spec: {
        driver: 'NATS' as const,
        endpoints: server.endpoints,
        tlsConfig: {
          certificateAuthority: { certificate: content(tls.ca.certificate) },
          clientCertificate: { certificate: content(pair.certificate), privateKey: content(pair.key) },
        },
      },
    });
    const config = await natsDriver.configure(store(tls.client), noSecrets);
    await using session = await natsDriver.open(config, new AbortController().signal);
    expect(await session.ping()).toMatchObject({ supported: true });
    await session.ensure(first);
    await expect(session.ensure(second)).rejects.toMatchObject({ reason: 'SingleTenant' });
    const clientTls = await natsDriver.clientTls(config, first, undefined, new Date());
    const binding = natsDriver.bind(config, first) as KineBinding;
    await using kine = await startKine({ binding, tenancy: first, tls: clientTls });
    await using hand = apiServerHand(kine.client, kineRoot, () => Promise.resolve());
    await hand.put('pods/a', Buffer.from('1'));
    expect(await hand.get('pods/a')).toEqual(Buffer.from('1'));
    const stranger = await natsDriver.configure(store(await clientPair(tls.ca, 'stranger')), noSecrets);
    await using outside = await natsDriver.open(stranger, new AbortController().signal);
    await expect(outside.ping()).rejects.toMatchObject({ reason: 'Unauthorized' });
  }, 60_000);
});
