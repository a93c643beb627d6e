import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Etcd3 } from 'etcd3';
import { startNatsDataStore } from '../../../testing/contracts/stores/nats/data-store.ts';
import { startKine } from '../../../testing/servers/kine-server.ts';
import { apiServerHand } from '../../../testing/contracts/stores/api-server-client.ts';
import { kineRoot } from '../../kine/kine-keys.ts';
import type { KineBinding, Tenancy } from '../../driver.ts';
import { natsDriver } from '../driver.ts';

/** Requests without a pause would prevent kine and the servers from reconnecting. */
const triedAgainMs = 50;

const tenancy: Tenancy = { schema: 'alpha', user: 'alpha', owner: 'uid', password: 'Pw-1' };

/** The answer; undefined if a server that is away, or that kine has not noticed yet, is why there is none. Mistakes are thrown. */
async function answered<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError) throw error;
    return undefined;
  }
}

/** The events of a watch of a prefix, as lines, and a wait for a number of them. */
async function watched(client: Etcd3, prefix: string) {
  const lines: string[] = [];
  const watcher = await client.watch().prefix(prefix).create();
  let wake: () => void = () => undefined;
  const add = (line: string): void => {
    lines.push(line);
    wake();
  };
  watcher.on('put', ({ key, value }) => {
    add(`put ${key.toString()}=${value.toString()}`);
  });
  watcher.on('delete', ({ key }) => {
    add(`delete ${key.toString()}`);
  });
  return {
    until: async (count: number): Promise<readonly string[]> => {
      while (lines.length < count) await new Promise<void>((resolve) => (wake = resolve));
      return lines;
    },
    [Symbol.asyncDispose]: () => watcher.cancel(),
  };
}

test('a tenant works on NATS through a real kine: create, update, watch, list, pages, delete; and nothing is denied', async () => {
  await using store = await startNatsDataStore({ auth: 'accounts', tls: 'verify' });
  const config = await natsDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  await using session = await natsDriver.open(config, new AbortController().signal);
  await session.ensure(tenancy);
  // The DataStore holds the CA's key: the tenant shows the servers a certificate of its own.
  const tls = await natsDriver.clientTls(config, tenancy, undefined, new Date());
  expect(tls?.certificate).toBeDefined();
  const binding = natsDriver.bind(config, tenancy) as KineBinding;
  await using kine = await startKine({ binding, tenancy, tls, extra: ['--compact-interval=1s'] });
  const { client } = kine;
  await using hand = apiServerHand(client, kineRoot, () => Promise.resolve());
  await using watch = await watched(client, `${kineRoot}pods/`);
  const created = await hand.put('pods/a', Buffer.from('1'));
  expect(await hand.put('pods/a', Buffer.from('2'))).toBeGreaterThan(created);
  await hand.put('pods/b', Buffer.from('1'));
  await hand.delete('pods/b');
  expect(await watch.until(4)).toEqual([
    'put /registry/pods/a=1',
    'put /registry/pods/a=2',
    'put /registry/pods/b=1',
    'delete /registry/pods/b',
  ]);
  const key = Buffer.from(`${kineRoot}pods/a`);
  const stale = await client.kv.txn({
    compare: [{ key, target: 'Mod', result: 'Equal', mod_revision: created.toString() }],
    success: [{ request_put: { key, value: Buffer.from('lost') } }],
    failure: [{ request_range: { key } }],
  });
  expect(stale.succeeded).toBe(false);
  for (let index = 0; index < 12; index += 1) await hand.put(`configmaps/${index}`, Buffer.from(String(index)));
  const [start, end] = [Buffer.from(`${kineRoot}configmaps/`), Buffer.from(`${kineRoot}configmaps0`)];
  const first = await client.kv.range({ key: start, range_end: end, limit: 5 });
  expect(first).toMatchObject({ more: true, kvs: { length: 5 } });
  const last = first.kvs.at(-1)?.key ?? start;
  const next = Buffer.concat([last, Buffer.from([0])]);
  const rest = await client.kv.range({ key: next, range_end: end, revision: first.header.revision });
  expect([...first.kvs, ...rest.kvs].map(({ value }) => Number(value.toString())).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 12 }, (_, index) => index),
  );
  expect(await client.getAll().prefix(`${kineRoot}configmaps/`).count()).toBe(12);
  await hand.put('events/short', Buffer.from('x'), 1);
  while ((await hand.get('events/short')) !== undefined) await pause(triedAgainMs);
  await kine.restart();
  expect(await hand.get('pods/a')).toEqual(Buffer.from('2'));
  await store.server.restart();
  while ((await answered(hand.get('pods/a'))) === undefined) await pause(triedAgainMs);
  await hand.put('pods/a', Buffer.from('3'));
  // While it still runs: its own writes do not come back.
  await session.remove(tenancy);
  await expect(hand.put('pods/a', Buffer.from('4'))).rejects.toBeDefined();
  const log = await readFile(store.server.logs[0] ?? '', 'utf8');
  expect(log.split('\n').filter((line) => line.includes('Violation'))).toEqual([]);
}, 120_000);

test('kine writes to another server when its own is gone, and reads what it wrote once that server is back', async () => {
  await using store = await startNatsDataStore({ auth: 'accounts', tls: 'server', servers: 3 });
  const config = await natsDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  await using session = await natsDriver.open(config, new AbortController().signal);
  await session.ensure(tenancy);
  const tls = await natsDriver.clientTls(config, tenancy, undefined, new Date());
  const binding = natsDriver.bind(config, tenancy) as KineBinding;
  // No server listens at the first endpoint.
  const url = (text: string): string => text.replace('nats://', 'nats://127.0.0.1:1,nats://');
  const files = Object.fromEntries(Object.entries(binding.files ?? {}).map(([name, text]) => [name, url(text)]));
  await using kine = await startKine({ binding: { ...binding, files }, tenancy, tls });
  await using hand = apiServerHand(kine.client, kineRoot, () => Promise.resolve());
  await hand.put('pods/a', Buffer.from('1'));
  for (const server of [0, 1]) {
    await store.server.kill(server);
    const value = `without ${server}`;
    while ((await answered(hand.put('pods/a', Buffer.from(value)))) === undefined) await pause(triedAgainMs);
    await store.server.restart(server);
    // kine answers from the events of its watch. NATS may have assigned the new consumer to the server that was lost a moment
    // ago, and nats.go repeats the request under the same name: the watch then resumes only when that server is back.
    while ((await answered(hand.get('pods/a')))?.toString() !== value) await pause(triedAgainMs);
  }
}, 180_000);
