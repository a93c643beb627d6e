import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startEtcdDataStore } from '../../testing/contracts/stores/etcd/data-store.ts';
import type { EtcdDataStore } from '../../testing/contracts/stores/etcd/data-store.ts';
import { rawEtcdClient } from './isolation/raw-client.ts';
import { clientPair } from '../../testing/servers/server-certificates.ts';
import type { Session } from '../driver.ts';
import type { EtcdConfig } from './config.ts';
import { etcdDriver } from './driver.ts';

const key = 'compact_rev_key';

let store: EtcdDataStore;
let config: EtcdConfig;
let session: Session;

beforeAll(async () => {
  store = await startEtcdDataStore();
  config = await etcdDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  session = await etcdDriver.open(config, new AbortController().signal);
}, 60_000);

afterAll(async () => {
  await session[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

const control = async (...words: readonly string[]): Promise<string> => (await store.server.control(...words)).trim();

const published = (): Promise<string> => control('get', key, '--print-value-only');

/** Writes until there is a new revision, and returns it. */
async function newRevision(): Promise<string> {
  await control('put', 'other', 'x');
  const answer = JSON.parse(await control('get', 'other', '--write-out=json')) as { header: { revision: number } };
  return String(answer.header.revision);
}

const publish = async (): Promise<void> => session.publishCompaction?.();

describe('The compaction of etcd', () => {
  test('is published up to its revision, once, and never before there is one', async () => {
    await publish();
    expect(await published()).toBe('');
    const first = await newRevision();
    await control('compact', first);
    await publish();
    expect(await published()).toBe(first);
    const untouched = await control('get', key, '--write-out=json');
    await publish();
    expect(JSON.parse(await control('get', key, '--write-out=json'))).toMatchObject({
      kvs: (JSON.parse(untouched) as { kvs: unknown }).kvs,
    });
    const second = await newRevision();
    await control('compact', second);
    await Promise.all([publish(), publish(), publish()]);
    expect(await published()).toBe(second);
  }, 60_000);

  test.each([
    ['the revision of an etcd that this one was restored from', '900000000000000000'],
    ['no revision at all', 'x'],
    ['what an API server writes that has not compacted yet', '0'],
  ])(
    'is published in place of %s',
    async (_, value) => {
      await control('put', key, value);
      const revision = await newRevision();
      await control('compact', revision);
      await publish();
      expect(await published()).toBe(revision);
    },
    60_000,
  );

  test('can be watched by tenants, who cannot publish another', async () => {
    await session.ensure({ schema: 'tenant', user: 'tenant', owner: 'uid' });
    const tenant = rawEtcdClient(config, await clientPair(store.tls.ca, 'tenant'));
    try {
      const watcher = await tenant.watch().key(key).create();
      const seen = new Promise<string>((resolve) => {
        watcher.on('put', ({ value }) => {
          resolve(value.toString());
        });
      });
      const revision = await newRevision();
      await control('compact', revision);
      await publish();
      expect(await seen).toBe(revision);
      expect(await tenant.get(key).string()).toBe(revision);
      await expect(tenant.put(key).value('1').exec()).rejects.toThrow(/permission denied/);
      await watcher.cancel();
    } finally {
      tenant.close();
    }
  }, 60_000);
});
