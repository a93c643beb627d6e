import { describe, expect, test } from '@jest/globals';
import { startNatsDataStore } from '../../../testing/contracts/stores/nats/data-store.ts';
import { NatsClient } from '../client.ts';
import { natsDriver } from '../driver.ts';
import { keepBucket } from '../ensure-bucket.ts';
import { bucketSubject, fencedStream } from './bucket.ts';
import { streamFence } from './bucket-fence.ts';

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
});
