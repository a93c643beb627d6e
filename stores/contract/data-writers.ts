import { expect, test } from '@jest/globals';
import { StoreError } from '../store-error.ts';
import type { StoredChange, TenancyData } from '../tenancy-data.ts';
import { bytes, contentOf, manyPuts, put } from './data-content.ts';
import type { DataTenant } from './tenancy-data-contract.ts';

/** Changes of each kind, as a batch that nobody waits for anymore has them. */
const late: readonly StoredChange[] = [
  put('pods/a', 'late'),
  { is: 'deleted', key: 'pods/b' },
  put('pods/late', 'late'),
  put('events/late', 'late', 60_000),
];

/** Writes until that is refused; returns how often it was not. */
async function writeOn(data: TenancyData): Promise<number> {
  for (let round = 0; ; round += 1) {
    try {
      await data.write(manyPuts(50, 'pods/pod-', `round ${round}`));
      await new Promise(setImmediate);
    } catch (error) {
      expect(error).toBeInstanceOf(StoreError);
      return round;
    }
  }
}

/** Which connection may write, and that nothing of another one takes effect later. */
export function testDataWriters(tenant: () => Promise<DataTenant>): void {
  test('refuses writes that were not begun', async () => {
    await using subject = await tenant();
    await expect(subject.data.write([put('pods/a', 'x')])).rejects.toBeInstanceOf(StoreError);
    expect(await contentOf(subject.data)).toEqual(new Map());
  });

  test('is not changed by a batch that arrives after all writes were ended', async () => {
    await using subject = await tenant();
    const { data, hand } = subject;
    await data.beginWrites();
    await data.write([put('pods/a', 'copied'), put('pods/b', 'copied')]);
    await using other = await subject.anotherData();
    await other.endWrites();
    await hand.put('pods/a', bytes('by the tenant'));
    // This connection does not know of the end: what it sends is what a batch is that was sent before and was never answered.
    await expect(data.write(late)).rejects.toBeInstanceOf(StoreError);
    const expected = new Map([
      ['pods/a', 'by the tenant'],
      ['pods/b', 'copied'],
    ]);
    expect(await contentOf(other)).toEqual(expected);
    await other.endWrites();
    await using fresh = await subject.anotherHand();
    expect(await fresh.get('pods/a')).toEqual(Buffer.from('by the tenant'));
    await fresh.put('pods/b', bytes('by the tenant'));
    await expect(data.write(late)).rejects.toBeInstanceOf(StoreError);
    expect(await contentOf(other)).toEqual(expected.set('pods/b', 'by the tenant'));
  }, 60_000);

  test('is not changed by a batch of a connection after another one has begun to write', async () => {
    await using subject = await tenant();
    const { data } = subject;
    await data.beginWrites();
    await data.write([put('pods/a', 'first'), put('pods/b', 'first')]);
    await using other = await subject.anotherData();
    await other.beginWrites();
    await expect(data.write(late)).rejects.toBeInstanceOf(StoreError);
    await other.write([put('pods/a', 'second')]);
    expect(await contentOf(other)).toEqual(
      new Map([
        ['pods/a', 'second'],
        ['pods/b', 'first'],
      ]),
    );
  });

  test('does not change anymore once the writes were ended, although some were under way', async () => {
    await using subject = await tenant();
    const { data } = subject;
    await data.beginWrites();
    await data.write(manyPuts(50, 'pods/pod-', 'before'));
    const writing = writeOn(data);
    await using other = await subject.anotherData();
    const begun = await other.revision();
    while ((await other.revision()) < begun + 100n) await new Promise(setImmediate);
    await other.endWrites();
    const cut = await contentOf(other);
    expect(await writing).toBeGreaterThan(0);
    expect(cut.size).toBe(50);
    expect(await contentOf(other)).toEqual(cut);
  }, 60_000);

  test('can be written by another connection once its writes were ended, and not by the one that ended them', async () => {
    await using subject = await tenant();
    const { data } = subject;
    await data.beginWrites();
    await data.endWrites();
    await data.endWrites();
    await expect(data.write(late)).rejects.toBeInstanceOf(StoreError);
    await using other = await subject.anotherData();
    await other.beginWrites();
    await other.write([put('pods/a', 'x')]);
    expect(await contentOf(other)).toEqual(new Map([['pods/a', 'x']]));
  });
}
