import { expect, test } from '@jest/globals';
import { startNatsDataStore } from '../../testing/contracts/stores/nats/data-store.ts';
import { bucketSubject } from './data/bucket.ts';
import { keepBucket } from './ensure-bucket.ts';
import { NatsClient } from './client.ts';
import { natsDriver } from './driver.ts';
import { recordsBucket } from './names.ts';
import { recordText } from './records.ts';
import type { Session, Tenancy } from '../driver.ts';

const auth = { user: 'steward', password: 'the-first-word' };
const changed = { user: 'steward-2', password: 'the-second-word' };
const first: Tenancy = { schema: 'first', user: 'first', owner: 'uid-1', password: 'unused' };
const second: Tenancy = { schema: 'second', user: 'second', owner: 'uid-2', password: 'unused' };

/** A server before and after its login is changed. */
const both = (config: string): string => {
  const users = [auth, changed].map(({ user, password }) => `{ user: "${user}", password: "${password}" }`);
  return config.replace(/ {2}user: .*\n {2}password: .*\n/, `  users: [${users.join(', ')}]\n`);
};

test('credentials of a removed tenant are given to no other owner until they are changed', async () => {
  await using store = await startNatsDataStore({ auth, edit: both });
  const config = await natsDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  const open = (login: typeof auth): Promise<Session> =>
    natsDriver.open({ ...config, access: { mode: 'login', ...login } }, new AbortController().signal);
  await using before = await open(auth);
  await before.ensure(first);
  await before.remove(first);
  for (const one of [second, { ...second, adopt: true }, { ...first, owner: 'uid-2' }]) {
    const refused = before.ensure(one);
    await expect(refused).rejects.toMatchObject({ name: 'StoreError', reason: 'SingleTenant' });
    await expect(refused).rejects.toThrow(
      /removed tenant whose owner has UID uid-1 .*change the credentials in the server and in the DataStore/,
    );
    // What is refused holds nothing, and its removal is no matter.
    await before.remove(one);
  }
  await before.ensure(first);
  await before.remove(first);

  await using after = await open(changed);
  await after.ensure(second);
  await after.remove(second);
  await expect(after.ensure(first)).rejects.toThrow(/removed tenant whose owner has UID uid-2 /);
  // Back to the first login is no change for who has had it.
  await expect(before.ensure(second)).rejects.toThrow(/removed tenant whose owner has UID uid-1 /);

  await using client = new NatsClient({ ...config, login: auth, loginName: 'the test' });
  const kept = (await recordText(client, 'logins')) ?? '';
  expect(JSON.parse(kept)).toHaveLength(2);
  for (const { user, password } of [auth, changed])
    for (const word of [user, password]) expect(kept).not.toContain(word);

  // Who has had the login of a bucket without an owner, made by a kine, is remembered, too, and removal is not held up by it.
  await keepBucket(client, second.schema, 1);
  await before.remove({ ...second, adopt: true });
  expect(JSON.parse((await recordText(client, 'logins')) ?? '')).toHaveLength(3);

  await client.store('break the record', bucketSubject(recordsBucket, 'logins'), '[{"owner":1}]');
  await expect(before.ensure(first)).rejects.toMatchObject({ reason: 'Failed' });
}, 60_000);
