import { describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { startNatsDataStore } from '../../../testing/contracts/stores/nats/data-store.ts';
import { NatsClient } from '../client.ts';
import { natsDriver } from '../driver.ts';
import { keepBucket, readBucket } from '../ensure-bucket.ts';
import { bucketStream, bucketSubject, fencedStream } from './bucket.ts';
import { streamFence } from './bucket-fence.ts';
import { NatsData } from './data.ts';
import { largestGroup } from './read-groups.ts';

const login = { user: 'steward', password: 'p' };
const tooLarge = 10054;

describe('A fenced bucket', () => {
  // Its own subject is all that leads to it, and a server takes a limit of 0 for none.
  test('accepts no message, neither for a key nor by the subject of the fence', async () => {
    await using store = await startNatsDataStore({ auth: login });
    const config = await natsDriver.configure(store.dataStore, () => Promise.resolve(undefined));
    await using client = new NatsClient({ ...config, login, loginName: 'the test' });
    await keepBucket(client, 'alpha', 1);
    const fence = streamFence(client, 'alpha', 1);
    const write = (subject: string): Promise<number> => client.store('write', subject, 'a value');
    await fence.up();
    const { subjects } = fencedStream('alpha', 1);
    expect(subjects).toHaveLength(1);
    for (const subject of subjects) await expect(write(subject)).rejects.toMatchObject({ code: tooLarge });
    await expect(write(bucketSubject('alpha', 'a'))).rejects.toThrow(/no responders/);
    await fence.down();
    expect(await write(bucketSubject('alpha', 'a'))).toBe(1);
  });

  test('takes what an administrator writes, and is fenced as before once that has ended', async () => {
    await using store = await startNatsDataStore({ auth: login });
    const config = await natsDriver.configure(store.dataStore, () => Promise.resolve(undefined));
    await using client = new NatsClient({ ...config, login, loginName: 'the test' });
    await keepBucket(client, 'alpha', 1);
    const data = new NatsData(client, 'alpha', streamFence(client, 'alpha', 1), false);
    await data.fence();
    await data.beginWrites();
    await data.write([{ is: 'put', entry: { key: 'pods/a', value: Buffer.from('copied') } }]);
    const asTenant = (): Promise<number> => client.store('write', bucketSubject('alpha', 'a'), 'a value');
    await expect(asTenant()).rejects.toThrow(/no responders/);
    await data.endWrites();
    await expect(asTenant()).rejects.toThrow(/no responders/);
    expect((await readBucket(client, 'alpha'))?.config).toMatchObject(fencedStream('alpha', 1));
    expect((await readBucket(client, 'alpha'))?.config).not.toHaveProperty('subject_transform');
    await data.unfence();
    expect(await asTenant()).toBe(2);
    expect((await readBucket(client, 'alpha'))?.config).toMatchObject(bucketStream('alpha', 1));
  });
});

/** Knows how many messages were requested at once, at most. */
class WatchedClient extends NatsClient {
  mostAtOnce = 0;
  #now = 0;

  override async request(...parameters: Parameters<NatsClient['request']>): ReturnType<NatsClient['request']> {
    this.#now += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#now);
    try {
      return await super.request(...parameters);
    } finally {
      this.#now -= 1;
    }
  }
}

test('Large values of a bucket are not all read at once, whose process has little memory', async () => {
  await using store = await startNatsDataStore({ auth: login });
  const config = await natsDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  await using client = new WatchedClient({ ...config, login, loginName: 'the test' });
  await keepBucket(client, 'alpha', 1);
  const data = new NatsData(client, 'alpha', streamFence(client, 'alpha', 1), false);
  await data.beginWrites();
  const keys = Array.from({ length: 12 }, (_, index) => `configmaps/large-${index}`).sort();
  for (const key of keys) await data.write([{ is: 'put', entry: { key, value: randomBytes(1 << 20) } }]);
  client.mostAtOnce = 0;
  const read: string[] = [];
  for await (const page of data.pages(await data.revision())) read.push(...page.map(({ key }) => key));
  expect(read).toEqual(keys);
  // Values are stored as base64 and do not compress: three messages of 1.4 MiB are below the bound of 4 MiB.
  expect(client.mostAtOnce).toBeLessThanOrEqual(largestGroup >> 20);
}, 60_000);
