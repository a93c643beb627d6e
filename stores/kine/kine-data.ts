import { endedWritesError } from '../ended-writes-error.ts';
import { StoreError } from '../store-error.ts';
import { CompactedError, longestPage } from '../tenancy-data.ts';
import type { StoredChange, StoredEntry, TenancyData } from '../tenancy-data.ts';
import { contiguous, entryOf, lastChanges, lastOfEach, newRow } from './kine-changes.ts';
import { keyOf } from './kine-keys.ts';
import { pagesOf } from './kine-pages.ts';
import type { KineHead, KineRow } from './kine-row.ts';
import type { KineTable } from './kine-table.ts';

/**
 * A tenant's data in kine's table, in any SQL database. kine keeps a row for each revision of a key, and the revision is the row's id:
 * https://github.com/k3s-io/kine/blob/v0.16.4/pkg/logstructured/sqllog/sql.go. Ids are assigned before rows become visible, so a
 * missing id may still appear; where that matters, this class waits for it.
 */
export class KineData implements TenancyData {
  readonly #table: KineTable;
  #mayWrite = false;

  constructor(table: KineTable) {
    this.#table = table;
  }

  async revision(): Promise<bigint> {
    const { last, compacted } = await this.#table.position();
    await this.#table.settle(last);
    return last > compacted ? last : compacted;
  }

  count(): Promise<number> {
    return this.#table.count();
  }

  async *pages(revision: bigint): AsyncIterable<readonly StoredEntry[]> {
    await this.#requireKept(revision);
    let after = '';
    for (;;) {
      const heads = await this.#table.newest(revision, after, longestPage);
      const live = heads.filter(({ name, deleted }) => !deleted && keyOf(name) !== undefined);
      for (const page of pagesOf(live, ({ bytes }) => bytes)) yield (await this.#read(page, revision)).map(entryOf);
      const last = heads.at(-1);
      if (heads.length < longestPage || last === undefined) break;
      after = last.name;
    }
    await this.#requireKept(revision);
  }

  async changes(
    after: bigint,
    through?: bigint,
  ): Promise<{ readonly changes: readonly StoredChange[]; readonly revision: bigint }> {
    await this.#requireKept(after);
    const [page = []] = pagesOf(await this.#decided(after, through), ({ deleted, bytes }) => (deleted ? 0 : bytes));
    const last = lastOfEach(page);
    const puts = last.filter(({ deleted }) => !deleted);
    const rows = new Map((await this.#read(puts, after)).map((row) => [row.id, row]));
    const changes = last.map(({ id, name }): StoredChange => {
      const row = rows.get(id);
      return row === undefined ? { is: 'deleted', key: keyOf(name) ?? name } : { is: 'put', entry: entryOf(row) };
    });
    return { changes, revision: page.at(-1)?.id ?? after };
  }

  async beginWrites(): Promise<void> {
    await this.#table.beginWrites();
    this.#mayWrite = true;
  }

  async write(changes: readonly StoredChange[]): Promise<void> {
    if (!this.#mayWrite) throw endedWritesError("kine's table");
    const last = [...lastChanges(changes)];
    for (const page of pagesOf(last, ([, change]) => (change.is === 'put' ? change.entry.value.length : 0))) {
      await this.#table.writing(async (writer) => {
        const latest = new Map((await writer.latest(page.map(([name]) => name))).map((row) => [row.name, row]));
        const rows = page.map(([name, change]) => newRow(name, change, latest.get(name)));
        await writer.insert(rows.filter((row) => row !== undefined));
      });
    }
  }

  async endWrites(): Promise<void> {
    this.#mayWrite = false;
    await this.#table.endWrites();
  }

  async raise(revision: bigint, onProgress?: (reached: bigint) => void): Promise<void> {
    const reached = await this.#table.writing((writer) => writer.raise(revision));
    onProgress?.(reached);
  }

  fence(): Promise<void> {
    return this.#table.fence();
  }

  async openUncopied(): Promise<void> {
    await this.#table.openUncopied?.();
  }

  unfence(): Promise<void> {
    return this.#table.unfence();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#table[Symbol.asyncDispose]();
  }

  /** The heads after `after`, up to an id before which no other one can appear anymore. */
  async #decided(after: bigint, limit?: bigint): Promise<readonly KineHead[]> {
    const seen = await this.#table.following(after, longestPage, limit);
    const sure = contiguous(after, seen);
    const through = seen.at(-1)?.id;
    if (sure.length > 0 || through === undefined) return sure;
    await this.#table.settle(through);
    return this.#table.following(after, longestPage, through);
  }

  /** The rows of these heads, in their order. Throws `CompactedError` when kine has compacted behind `since` meanwhile. */
  async #read(heads: readonly KineHead[], since: bigint): Promise<readonly KineRow[]> {
    const rows = new Map((await this.#table.read(heads.map(({ id }) => id))).map((row) => [row.id, row]));
    // Checked afterwards, because compaction deletes rows and records that in one transaction.
    await this.#requireKept(since);
    return heads.map(({ id, name }) => {
      const row = rows.get(id);
      if (row === undefined) throw new StoreError('Failed', `kine's row ${id} of ${name} has disappeared`);
      return row;
    });
  }

  async #requireKept(revision: bigint): Promise<void> {
    const { compacted } = await this.#table.position();
    if (revision >= compacted) return;
    throw new CompactedError(`revision ${revision} is gone: kine has compacted up to ${compacted}`);
  }
}
