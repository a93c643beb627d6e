import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startNatsDataUnderTest } from '../../../testing/contracts/stores/nats/data-under-test.ts';
import { allEntries, bytes, contentOf } from '../../contract/data-content.ts';
import type { DataUnderTest } from '../../contract/tenancy-data-contract.ts';
import { CompactedError, largestPage } from '../../tenancy-data.ts';
import { bucketHistory } from './bucket.ts';

describe('The pages of a bucket', () => {
  let store: DataUnderTest;

  beforeAll(async () => {
    store = await startNatsDataUnderTest();
  }, 120_000);
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
  });

  test('leave out keys that kine created after the revision, while the version that created them exists', async () => {
    await using subject = await store.tenant();
    const { data, hand } = subject;
    await hand.put('pods/old', bytes('before'));
    const revision = await data.revision();
    await hand.put('pods/old', bytes('after'));
    // The oldest version that the bucket keeps is the one that made the key.
    for (let version = 1; version <= bucketHistory; version += 1) await hand.put('pods/new', bytes(`${version}`));
    expect(await contentOf(data, revision)).toEqual(new Map([['pods/old', 'before']]));
    // From here on it is unknown whether the key existed.
    await hand.put('pods/new', bytes('one more'));
    await expect(allEntries(data, revision)).rejects.toBeInstanceOf(CompactedError);
  }, 60_000);

  test('contain a single value if two would be too large', async () => {
    await using subject = await store.tenant();
    const { data } = subject;
    const value = Buffer.alloc((largestPage / 4) * 3, 'x');
    const keys = ['configmaps/a', 'configmaps/b', 'configmaps/c'];
    await data.beginWrites();
    await data.write(keys.map((key) => ({ is: 'put', entry: { key, value } })));
    const pages: (readonly string[])[] = [];
    for await (const page of data.pages(await data.revision())) pages.push(page.map(({ key }) => key));
    expect(pages).toEqual([['configmaps/a'], ['configmaps/b'], ['configmaps/c']]);
  }, 60_000);
});
