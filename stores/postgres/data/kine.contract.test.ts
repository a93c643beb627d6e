import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { patient } from '../../../testing/patient.ts';
import { kineRoot } from '../../kine/kine-keys.ts';
import { apiServerHand } from '../../../testing/contracts/stores/api-server-client.ts';
import { rawPostgres } from '../isolation/raw-client.ts';
import { startPostgresUnderTest } from '../../../testing/contracts/stores/postgres/store-under-test.ts';
import type { PostgresUnderTest } from '../../../testing/contracts/stores/postgres/store-under-test.ts';
import { startKine } from '../../../testing/servers/kine-server.ts';
import type { KineServer } from '../../../testing/servers/kine-server.ts';
import { startPostgres } from '../../../testing/servers/postgres-server.ts';
import type { KineBinding, Session, Tenancy } from '../../driver.ts';
import type { LoginConfig } from '../../login-config.ts';
import type { StoredEntry, TenancyData } from '../../tenancy-data.ts';
import type { ApiServerHand } from '../../contract/tenancy-data-contract.ts';
import { postgresDriver } from '../driver.ts';

jest.setTimeout(60_000);

const value = (text: string): Uint8Array => Buffer.from(text);

function bindingOf(config: LoginConfig, tenancy: Tenancy): KineBinding {
  const binding = postgresDriver.bind(config, tenancy);
  if (binding.kind !== 'kine') throw new Error('PostgreSQL is reached through kine');
  return binding;
}

/** The kine of a tenant, with what its pods get. */
async function kineOf(config: LoginConfig, tenancy: Tenancy): Promise<KineServer> {
  const tls = await postgresDriver.clientTls(config, tenancy, undefined, new Date());
  return startKine({ binding: bindingOf(config, tenancy), tenancy, tls });
}

const handOf = (kine: KineServer): ApiServerHand => apiServerHand(kine.client, kineRoot, () => Promise.resolve());

async function keysOf(data: TenancyData): Promise<readonly string[]> {
  const entries: StoredEntry[] = [];
  for await (const page of data.pages(await data.revision())) entries.push(...page);
  return entries.map((entry) => `${entry.key}=${Buffer.from(entry.value).toString()}`);
}

/** Waits for what a server does by itself. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + patient(20_000);
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('not so in time');
    await delay(20);
  }
}

/** What a call returns once it no longer fails. */
async function atLength<T>(call: () => Promise<T>): Promise<T> {
  let found: { readonly value: T } | undefined;
  await until(async () => {
    found = await call().then(
      (value) => ({ value }),
      () => undefined,
    );
    return found !== undefined;
  });
  if (found === undefined) throw new Error('the call has no result');
  return found.value;
}

/** The events of a watch of all objects of a resource after a revision. */
async function watched(
  kine: KineServer,
  after: bigint,
  resource = 'pods',
): Promise<{ readonly seen: readonly string[] } & AsyncDisposable> {
  const seen: string[] = [];
  const watcher = await kine.client
    .watch()
    .prefix(`${kineRoot}${resource}/`)
    .startRevision(String(after + 1n))
    .create();
  watcher.on('put', ({ key, value: now }) => seen.push(`${key.toString()}=${now.toString()}`));
  watcher.on('delete', ({ key }) => seen.push(`-${key.toString()}`));
  return { seen, [Symbol.asyncDispose]: () => watcher.cancel() };
}

/** What there is of kine's table, by name. */
const description = `SELECT column_name AS name, data_type || coalesce(column_default, '') || coalesce(collation_name, '') AS what
    FROM information_schema.columns WHERE table_name = 'kine'
  UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'kine' ORDER BY 1, 2`;

describe('kine on PostgreSQL', () => {
  let store: PostgresUnderTest;
  let session: Session;
  let count = 0;

  beforeAll(async () => {
    store = await startPostgresUnderTest({ tls: true, clientCertificates: true });
    session = await postgresDriver.open(store.config, new AbortController().signal);
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  const settle = async (): Promise<Tenancy> => {
    count += 1;
    const tenancy = {
      schema: `tenant-${count}`,
      user: `Tenant-${count}`,
      owner: `uid-${count}`,
      password: `pw_${count}-`,
    };
    await session.ensure(tenancy);
    return tenancy;
  };
  const dataOf = async (tenancy: Tenancy): Promise<TenancyData> => {
    const data = await session.data?.(tenancy);
    if (data === undefined) throw new Error('the driver cannot copy');
    return data;
  };

  test('accepts the table that a copy created, and continues from it', async () => {
    const [own, copied] = [await settle(), await settle()];
    await using first = await kineOf(store.config, own);
    await handOf(first).put('pods/a', value('1'));
    await using data = await dataOf(copied);
    await data.raise(5_000_000n);
    await data.beginWrites();
    await data.write([
      { is: 'put', entry: { key: 'pods/a', value: value('copied') } },
      { is: 'put', entry: { key: 'pods/b', value: value('copied') } },
      { is: 'put', entry: { key: 'events/short', value: value('copied'), ttlMs: 2000 } },
    ]);
    const made = await store.server.sql(description, copied.schema);
    expect(made).toEqual(await store.server.sql(description, own.schema));
    expect(made.length).toBeGreaterThan(14);

    await using kine = await kineOf(store.config, copied);
    expect(await store.server.sql(description, copied.schema)).toEqual(made);
    const hand = handOf(kine);
    await using watch = await watched(kine, await data.revision());
    const updated = await hand.put('pods/a', value('2'));
    await hand.delete('pods/b');
    await hand.put('pods/c', value('new'));
    expect(updated).toBeGreaterThan(5_000_000n);
    // kine returns revisions in their order and fills gaps row by row: one of five million would take hours.
    await until(() => Promise.resolve(watch.seen.length >= 3));
    expect(watch.seen).toEqual(['/registry/pods/a=2', '-/registry/pods/b', '/registry/pods/c=new']);
    await until(async () => (await hand.get('events/short')) === undefined);
    expect(await keysOf(data)).toEqual(['pods/a=2', 'pods/c=new']);
    // A client with a revision of the previous datastore has to list again.
    const old = kine.client.kv.range({ key: Buffer.from(`${kineRoot}pods/a`), revision: '4' });
    await expect(old).rejects.toThrow(/compacted/);
  });

  test('loses no running write when a revision is reported, or when it is fenced', async () => {
    const tenancy = await settle();
    await using kine = await kineOf(store.config, tenancy);
    const hand = handOf(kine);
    await using data = await dataOf(tenancy);
    const tls = await postgresDriver.clientTls(store.config, tenancy, undefined, new Date());
    const slow = await rawPostgres(store.config, { tenancy, tls });
    const insert = (name: string): Promise<unknown> =>
      slow.query(`INSERT INTO kine (name, created, deleted, create_revision, prev_revision, lease, value)
        VALUES ('/registry/pods/${name}', 1, 0, 0, 0, 0, 'x')`);
    for (const [name, ask] of [
      ['slow', () => data.revision()],
      ['slower', () => data.fence()],
    ] as const) {
      await slow.query('BEGIN');
      await insert(name);
      if (name === 'slow') await hand.put('pods/fast', value('x'));
      let answered = false;
      const asked = ask().then(() => {
        answered = true;
      });
      // The server answers all earlier requests before this one.
      for (let round = 0; round < 20; round += 1) await store.server.sql('SELECT 1');
      expect(answered).toBe(false);
      await slow.query('COMMIT');
      await asked;
      expect(await keysOf(data)).toContain(`pods/${name}=x`);
    }
    await expect(insert('late')).rejects.toMatchObject({ code: '42501' });
    await slow.end();
  });

  test('may write the announcements of a control plane behind the fence, and nothing else', async () => {
    const tenancy = await settle();
    await using kine = await kineOf(store.config, tenancy);
    const hand = handOf(kine);
    await using data = await dataOf(tenancy);
    await hand.put('masterleases/10.0.0.1', value('before'), 60);
    await hand.put('pods/a', value('before'));
    await data.fence();
    await expect(hand.put('masterleases/10.0.0.1', value('refused'), 60)).rejects.toBeDefined();
    await data.openUncopied?.();
    await data.openUncopied?.();
    await using watch = await watched(kine, await data.revision(), 'masterleases');
    await hand.put('masterleases/10.0.0.1', value('renewed'), 60);
    await hand.put('leases/kube-system/kube-scheduler', value('renewed'));
    await expect(hand.put('pods/a', value('refused'))).rejects.toBeDefined();
    await expect(hand.put('pods/b', value('refused'))).rejects.toBeDefined();
    await expect(hand.delete('pods/a')).rejects.toBeDefined();
    await hand.delete('masterleases/10.0.0.1');
    // The ids of refused writes are gaps, which a watch gets over.
    await until(() => Promise.resolve(watch.seen.length >= 2));
    expect(watch.seen).toEqual(['/registry/masterleases/10.0.0.1=renewed', '-/registry/masterleases/10.0.0.1']);
    expect(await keysOf(data)).toEqual(['pods/a=before']);
    await session.ensure(tenancy);
    await expect(hand.put('pods/a', value('refused'))).rejects.toBeDefined();
    await data.beginWrites();
    await data.write([{ is: 'put', entry: { key: 'pods/a', value: value('copied') } }]);
    await expect(hand.put('pods/a', value('refused'))).rejects.toBeDefined();
    await data.unfence();
    await hand.put('pods/a', value('after'));
    await hand.delete('pods/a');
    expect(await keysOf(data)).toEqual([]);
    expect(await store.server.sql('SELECT policyname FROM pg_policies', tenancy.schema)).toEqual([]);
  });

  test('stays fenced for all names if its table is in use for too long', async () => {
    const tenancy = await settle();
    await using kine = await kineOf(store.config, tenancy);
    const hand = handOf(kine);
    await hand.put('pods/a', value('1'));
    await using data = await dataOf(tenancy);
    await data.fence();
    const tls = await postgresDriver.clientTls(store.config, tenancy, undefined, new Date());
    const reader = await rawPostgres(store.config, { tenancy, tls });
    await reader.query('BEGIN');
    await reader.query('SELECT count(*) FROM kine');
    await data.openUncopied?.();
    await expect(hand.put('masterleases/10.0.0.1', value('refused'))).rejects.toBeDefined();
    await reader.query('COMMIT');
    await reader.end();
    await data.unfence();
    await hand.put('masterleases/10.0.0.1', value('renewed'));
  });

  test('follows the primary when another server becomes it', async () => {
    await using primary = await startPostgresUnderTest({ tls: true });
    await using standby = await startPostgres({ standbyOf: primary.server });
    const other = { name: `127.0.0.1:${standby.port}`, host: '127.0.0.1', port: standby.port };
    const config = { ...primary.config, endpoints: [other, ...primary.config.endpoints] };
    await using administrator = await postgresDriver.open(config, new AbortController().signal);
    const tenancy = { schema: 'a', user: 'a', owner: 'uid', password: 'x' };
    await administrator.ensure(tenancy);
    await using kine = await kineOf(config, tenancy);
    const hand = handOf(kine);
    await hand.put('pods/a', value('before'));
    const behind = `SELECT pg_last_wal_replay_lsn() >= '${await position(primary)}' AS here`;
    await until(async () => (await standby.sql(behind))[0]?.here === true);
    await primary.server.kill();
    await expect(hand.put('pods/a', value('lost'))).rejects.toBeDefined();
    await standby.promote();
    // Each connection in kine's pool fails once when it is used: its server process outlives the postmaster for a moment.
    const read = await atLength(() => hand.get('pods/a'));
    expect(read).toEqual(Buffer.from('before'));
    await atLength(() => hand.put('pods/a', value('after')));
    expect(await atLength(() => hand.get('pods/a'))).toEqual(Buffer.from('after'));
    expect(kine.running).toBe(true);
  });
});

async function position({ server }: PostgresUnderTest): Promise<string> {
  return String((await server.sql('SELECT pg_current_wal_flush_lsn() AS at'))[0]?.at);
}
