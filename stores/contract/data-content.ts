import { expect } from '@jest/globals';
import { largestPage, longestPage } from '../tenancy-data.ts';
import type { StoredChange, StoredEntry, TenancyData } from '../tenancy-data.ts';

/** Keys with their values, the values as text of one character a byte. */
export type Content = ReadonlyMap<string, string>;

/** A value of text. */
export const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** The text of a value. */
export const text = (value: Uint8Array): string => Buffer.from(value).toString('latin1');

/** All pages of a revision, each of which must be in its bounds, the keys in the order of their bytes. */
export async function allEntries(data: TenancyData, revision: bigint): Promise<readonly StoredEntry[]> {
  const entries: StoredEntry[] = [];
  for await (const page of data.pages(revision)) {
    const size = page.reduce((sum, { value }) => sum + value.length, 0);
    expect(page.length).toBeLessThanOrEqual(longestPage);
    if (page.length > 1) expect(size).toBeLessThanOrEqual(largestPage);
    entries.push(...page);
  }
  for (const [index, { key }] of entries.entries()) {
    const next = entries[index + 1]?.key;
    if (next !== undefined) expect(Buffer.compare(Buffer.from(key), Buffer.from(next))).toBe(-1);
  }
  return entries;
}

/** The content at a revision; by default at the current one. */
export async function contentOf(data: TenancyData, revision?: bigint): Promise<Content> {
  const entries = await allEntries(data, revision ?? (await data.revision()));
  return new Map(entries.map(({ key, value }) => [key, text(value)]));
}

/** The content after changes. */
export function changed(content: Content, changes: readonly StoredChange[]): Content {
  const result = new Map(content);
  for (const change of changes) {
    if (change.is === 'deleted') result.delete(change.key);
    else result.set(change.entry.key, text(change.entry.value));
  }
  return result;
}

/** Every change after a revision, up to the store's revision when this was called, each call within its bounds. */
export async function allChanges(
  data: TenancyData,
  after: bigint,
): Promise<{ readonly changes: readonly StoredChange[]; readonly revision: bigint; readonly calls: number }> {
  const goal = await data.revision();
  const changes: StoredChange[] = [];
  let revision = after;
  let calls = 0;
  while (revision < goal) {
    const said = await data.changes(revision);
    expect(said.changes.length).toBeLessThanOrEqual(longestPage);
    expect(said.revision).toBeGreaterThan(revision);
    changes.push(...said.changes);
    revision = said.revision;
    calls += 1;
  }
  return { changes, revision, calls };
}

/** A put of text. */
export const put = (key: string, value: string, ttlMs?: number): StoredChange => ({
  is: 'put',
  entry: { key, value: bytes(value), ttlMs },
});

/** Numbered puts. */
export const manyPuts = (count: number, prefix: string, value = 'x'): readonly StoredChange[] =>
  Array.from({ length: count }, (_, index) => put(`${prefix}${String(index).padStart(6, '0')}`, `${value} ${index}`));
