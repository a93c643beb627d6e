import { describe, expect, test } from '@jest/globals';
import { CompactedError } from '../tenancy-data.ts';
import type { StoredChange, StoredEntry } from '../tenancy-data.ts';
import { KineData } from './kine-data.ts';
import type { KineRow, NewKineRow } from './kine-row.ts';
import type { KineTable, KineWriter } from './kine-table.ts';

/** Rows in memory, some of them in transactions that are not finished. */
class RowsInMemory implements KineTable, KineWriter {
  rows: KineRow[] = [];
  /** They become visible, or vanish, when the code waits for them. */
  underWay: { readonly row: KineRow; readonly commits: boolean }[] = [];
  compacted = 0n;
  settled: bigint[] = [];
  #next = 1n;

  add(name: string, value: string, over: Partial<KineRow> = {}): KineRow {
    const row = this.#row({ name, created: true, deleted: false, value: Buffer.from(value), lease: 0 });
    this.rows.push({ ...row, ...over });
    return row;
  }

  begin(name: string, value: string, commits: boolean): void {
    const row = this.#row({ name, created: true, deleted: false, value: Buffer.from(value), lease: 0 });
    this.underWay.push({ row, commits });
  }

  #row(row: Omit<KineRow, 'id' | 'createRevision'>): KineRow {
    return { ...row, id: this.#next++, createRevision: 0n };
  }

  create = (): Promise<void> => Promise.resolve();
  position = (): ReturnType<KineTable['position']> => {
    const ids = this.rows.map(({ id }) => id);
    const last = ids.reduce((highest, id) => (id > highest ? id : highest), 0n);
    return Promise.resolve({ last, compacted: this.compacted });
  };
  settle = (through: bigint): Promise<void> => {
    this.settled.push(through);
    this.rows.push(...this.underWay.filter(({ row, commits }) => commits && row.id <= through).map(({ row }) => row));
    this.rows.sort((a, b) => Number(a.id - b.id));
    this.underWay = this.underWay.filter(({ row }) => row.id > through);
    return Promise.resolve();
  };
  count = (): Promise<number> => Promise.resolve(this.rows.length);
  newest: KineTable['newest'] = async (revision, after, limit) => {
    const names = [...new Set(this.rows.filter(({ id }) => id <= revision).map(({ name }) => name))].sort();
    const page = names.filter((name) => name > after).slice(0, limit);
    return (await this.#latestOf(page, revision)).map((row) => ({ ...row, bytes: row.value.length }));
  };
  following: KineTable['following'] = (after, limit, through) =>
    Promise.resolve(
      this.rows
        .filter(({ id }) => id > after && (through === undefined || id <= through))
        .slice(0, limit)
        .map((row) => ({ ...row, bytes: row.value.length })),
    );
  read: KineTable['read'] = (ids) => Promise.resolve(this.rows.filter(({ id }) => ids.includes(id)));
  latest: KineWriter['latest'] = (names) => this.#latestOf(names, 1n << 60n);
  writing = <T>(work: (writer: KineWriter) => Promise<T>): Promise<T> => work(this);
  insert = (rows: readonly NewKineRow[]): Promise<void> => {
    for (const row of rows) this.rows.push(this.#row({ ...row, value: row.value ?? Buffer.alloc(0) }));
    return Promise.resolve();
  };
  raise = (revision: bigint): Promise<bigint> => {
    this.#next = revision + 1n;
    return Promise.resolve(revision);
  };
  beginWrites = (): Promise<void> => Promise.resolve();
  endWrites = (): Promise<void> => Promise.resolve();
  fence = (): Promise<void> => Promise.resolve();
  unfence = (): Promise<void> => Promise.resolve();
  [Symbol.asyncDispose] = (): Promise<void> => Promise.resolve();

  #latestOf(names: readonly string[], revision: bigint): Promise<readonly KineRow[]> {
    const found = names.map((name) => this.rows.filter((row) => row.name === name && row.id <= revision).at(-1));
    return Promise.resolve(found.filter((row) => row !== undefined));
  }
}

const readAll = async (pages: AsyncIterable<readonly StoredEntry[]>): Promise<Record<string, string>> => {
  const all: Record<string, string> = {};
  for await (const page of pages) for (const { key, value } of page) all[key] = Buffer.from(value).toString();
  return all;
};
const told = (changes: readonly StoredChange[]): readonly string[] =>
  changes.map((change) =>
    change.is === 'put' ? `${change.entry.key}=${Buffer.from(change.entry.value).toString()}` : `-${change.key}`,
  );

describe('KineData', () => {
  test('returns a revision only when every write up to it is visible or has failed', async () => {
    const table = new RowsInMemory();
    table.begin('/registry/slow', '1', true);
    table.add('/registry/fast', '1');
    const data = new KineData(table);
    const revision = await data.revision();
    expect(revision).toBe(2n);
    expect(await readAll(data.pages(revision))).toEqual({ slow: '1', fast: '1' });
  });

  test('returns changes only up to the first gap, and waits when there are none before it', async () => {
    const table = new RowsInMemory();
    table.add('/registry/a', '1');
    table.begin('/registry/slow', '1', true);
    table.begin('/registry/never', '1', false);
    table.add('/registry/b', '1');
    const data = new KineData(table);
    const first = await data.changes(0n);
    expect([first.revision, ...told(first.changes)]).toEqual([1n, 'a=1']);
    expect(table.settled).toEqual([]);
    const second = await data.changes(first.revision);
    expect([second.revision, ...told(second.changes)]).toEqual([4n, 'slow=1', 'b=1']);
    expect(await data.changes(second.revision)).toEqual({ changes: [], revision: 4n });
  });

  test('returns the changes up to a revision without those that came later', async () => {
    const table = new RowsInMemory();
    table.add('/registry/a', '1');
    table.add('/registry/b', '1');
    table.add('/registry/a', '2', { created: false });
    const data = new KineData(table);
    const { changes, revision } = await data.changes(0n, 2n);
    expect([revision, ...told(changes)]).toEqual([2n, 'a=1', 'b=1']);
    expect(await data.changes(2n, 2n)).toEqual({ changes: [], revision: 2n });
  });

  test('returns the last change of a key, and only the revision of kine’s own rows', async () => {
    const table = new RowsInMemory();
    table.add('/registry/a', '1');
    table.add('/registry/b', '1');
    table.add('/registry/a', '2', { created: false });
    table.add('/registry/b', '', { created: false, deleted: true });
    table.add('gap-5', '', { deleted: true });
    const { changes, revision } = await new KineData(table).changes(0n);
    expect([revision, ...told(changes)]).toEqual([5n, 'a=2', '-b']);
  });

  test('throws when the requested revision is compacted, also in the middle', async () => {
    const table = new RowsInMemory();
    table.add('/registry/a', '1');
    table.add('/registry/b', '1');
    const data = new KineData(table);
    table.compacted = 2n;
    await expect(data.changes(1n)).rejects.toBeInstanceOf(CompactedError);
    await expect(readAll(data.pages(1n))).rejects.toBeInstanceOf(CompactedError);
    expect(await readAll(data.pages(2n))).toEqual({ a: '1', b: '1' });
    const read = table.read;
    table.read = (ids) => {
      table.compacted = 3n;
      return read(ids.slice(1));
    };
    await expect(readAll(data.pages(2n))).rejects.toBeInstanceOf(CompactedError);
  });

  test('raises the revision, with or without a callback', async () => {
    const table = new RowsInMemory();
    const data = new KineData(table);
    const told: bigint[] = [];
    await data.raise(100n);
    expect(table.add('/registry/a', '1').id).toBe(101n);
    await data.raise(200n, (reached) => told.push(reached));
    expect([table.add('/registry/a', '2').id, ...told]).toEqual([201n, 200n]);
  });

  test('applies changes once, however often they are written', async () => {
    const table = new RowsInMemory();
    const data = new KineData(table);
    const put = (key: string, value: string): StoredChange => ({
      is: 'put',
      entry: { key, value: Buffer.from(value) },
    });
    const changes = [put('a', '1'), put('b', '1'), put('a', '2'), { is: 'deleted', key: 'b' } as const, put('c', '')];
    await data.beginWrites();
    await data.write(changes);
    const rows = [...table.rows];
    expect(await readAll(data.pages(await data.revision()))).toEqual({ a: '2', c: '' });
    await data.write(changes);
    expect(table.rows).toEqual(rows);
  });
});
