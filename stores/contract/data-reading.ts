import { expect, test } from '@jest/globals';
import { CompactedError } from '../tenancy-data.ts';
import type { StoredChange } from '../tenancy-data.ts';
import type { DataTenant } from './tenancy-data-contract.ts';
import { allChanges, allEntries, bytes, changed, contentOf, manyPuts } from './data-content.ts';

/** Pages at a revision, and what changed after it. */
export function testDataReading(tenant: () => Promise<DataTenant>): void {
  test('returns every key as it was at one revision, in bounded pages, while the tenant writes', async () => {
    await using subject = await tenant();
    const { data, hand } = subject;
    await data.beginWrites();
    await data.write(manyPuts(2300, 'pods/default/pod-'));
    for (const name of ['first', 'second', 'third']) await hand.put(`secrets/default/${name}`, bytes(name));
    const revision = await data.revision();
    const expected = await contentOf(data, revision);
    expect(expected.size).toBe(2303);
    expect(await data.count()).toBe(2303);
    const seen = new Map<string, string>();
    let pages = 0;
    for await (const page of data.pages(revision)) {
      for (const { key, value } of page) seen.set(key, Buffer.from(value).toString('latin1'));
      pages += 1;
      if (pages > 1) continue;
      await hand.put('pods/default/pod-002299', bytes('changed'));
      await hand.put('secrets/default/second', bytes('changed'));
      await hand.put('secrets/default/zz', bytes('new'));
      await hand.delete('secrets/default/third');
    }
    expect(pages).toBeGreaterThan(2);
    expect(seen).toEqual(expected);
  }, 60_000);

  test('returns values unchanged: binary, empty, and of 1 MiB, in bounded pages', async () => {
    await using subject = await tenant();
    const { data, hand } = subject;
    const values = new Map<string, Uint8Array>([
      ['configmaps/empty', new Uint8Array()],
      ['configmaps/every-byte', Uint8Array.from({ length: 256 }, (_, index) => index)],
      ['configmaps/no-utf8', Buffer.from([0xff, 0xfe, 0x00, 0xc0, 0x80])],
    ]);
    for (let index = 0; index < 5; index += 1) values.set(`configmaps/large-${index}`, Buffer.alloc(1 << 20, index));
    const start = await data.revision();
    for (const [key, value] of values) await hand.put(key, value);
    const entries = await allEntries(data, await data.revision());
    expect(entries.map(({ key }) => key)).toEqual([...values.keys()].sort());
    for (const { key, value } of entries) expect(Buffer.compare(value, values.get(key) ?? bytes('absent'))).toBe(0);
    const { changes } = await allChanges(data, start);
    expect(changed(new Map(), changes)).toEqual(await contentOf(data));
  }, 60_000);

  test('returns nothing from an empty tenancy, and nothing of its neighbors', async () => {
    await using first = await tenant();
    await using second = await tenant();
    await first.hand.put('pods/a', bytes('first'));
    expect(await contentOf(second.data)).toEqual(new Map());
    expect(await second.data.count()).toBe(0);
    const start = await second.data.revision();
    await first.hand.put('pods/b', bytes('first'));
    expect((await allChanges(second.data, start)).changes).toEqual([]);
    await second.data.beginWrites();
    await second.data.write([{ is: 'deleted', key: 'pods/a' }]);
    expect((await contentOf(first.data)).size).toBe(2);
  });

  test('returns the changes after a revision: puts, deletes, and recreated keys', async () => {
    await using subject = await tenant();
    const { data, hand } = subject;
    for (const key of ['pods/kept', 'pods/changed', 'pods/deleted', 'pods/again']) await hand.put(key, bytes('old'));
    const start = await data.revision();
    const before = await contentOf(data, start);
    expect(await data.changes(start)).toMatchObject({ changes: [] });
    await hand.put('pods/changed', bytes('between'));
    await hand.put('pods/changed', bytes('new'));
    await hand.delete('pods/deleted');
    await hand.delete('pods/again');
    await hand.put('pods/again', bytes('new'));
    await hand.put('pods/added', bytes('new'));
    await hand.put('pods/short', bytes('new'));
    await hand.delete('pods/short');
    const { changes, revision } = await allChanges(data, start);
    expect(changed(before, changes)).toEqual(await contentOf(data));
    expect(changes).toContainEqual({ is: 'deleted', key: 'pods/deleted' });
    expect(changes.some((change) => change.is === 'put' && change.entry.key === 'pods/kept')).toBe(false);
    expect((await data.changes(revision)).changes).toEqual([]);
    await hand.put('pods/later', bytes('new'));
    expect((await allChanges(data, revision)).changes).toHaveLength(1);
    // From an earlier revision again, as after a crash.
    expect(changed(before, (await allChanges(data, start)).changes)).toEqual(await contentOf(data));
  }, 30_000);

  test('returns the changes up to a revision without those that came later, which follow', async () => {
    await using subject = await tenant();
    const { data, hand } = subject;
    await hand.put('pods/a', bytes('old'));
    const start = await data.revision();
    await hand.put('pods/a', bytes('first'));
    await hand.put('pods/b', bytes('first'));
    const then = await contentOf(data);
    const through = await data.revision();
    await hand.put('pods/a', bytes('second'));
    await hand.delete('pods/b');
    await hand.put('pods/c', bytes('second'));
    const found: StoredChange[] = [];
    let at = start;
    for (let isOver = false; !isOver && at < through;) {
      const { changes, revision } = await data.changes(at, through);
      found.push(...changes);
      isOver = revision === at;
      at = revision;
    }
    expect(at).toBeLessThanOrEqual(through);
    expect(changed(new Map(), found)).toEqual(then);
    expect(await data.changes(at, at)).toEqual({ changes: [], revision: at });
    expect(changed(then, (await allChanges(data, at)).changes)).toEqual(await contentOf(data));
  }, 30_000);

  test('returns many changes in bounded parts and in their order', async () => {
    await using subject = await tenant();
    const { data, hand } = subject;
    await hand.put('pods/last', bytes('old'));
    const start = await data.revision();
    await data.beginWrites();
    await data.write(manyPuts(2500, 'pods/pod-', 'old'));
    await data.write(manyPuts(500, 'pods/pod-', 'new'));
    await hand.put('pods/last', bytes('new'));
    const { changes, calls } = await allChanges(data, start);
    expect(calls).toBeGreaterThan(1);
    expect(changed(new Map(), changes)).toEqual(await contentOf(data));
    expect(changes.at(-1)).toMatchObject({ entry: { key: 'pods/last' } });
  }, 60_000);

  test('reports a compacted revision', async () => {
    await using subject = await tenant();
    const { data, hand } = subject;
    await hand.put('pods/a', bytes('1'));
    const start = await data.revision();
    const before = await contentOf(data);
    for (const value of ['2', '3', '4']) await hand.put('pods/a', bytes(value));
    await hand.put('pods/b', bytes('1'));
    await hand.delete('pods/b');
    await subject.compact();
    await expect(allEntries(data, start)).rejects.toBeInstanceOf(CompactedError);
    if (subject.peculiarities?.includes('keeps changes')) {
      expect(changed(before, (await allChanges(data, start)).changes)).toEqual(await contentOf(data));
    } else await expect(data.changes(start)).rejects.toBeInstanceOf(CompactedError);
    expect(await contentOf(data)).toEqual(new Map([['pods/a', '4']]));
    const now = await data.revision();
    await hand.put('pods/a', bytes('5'));
    expect((await allChanges(data, now)).changes).toHaveLength(1);
  }, 30_000);
}
