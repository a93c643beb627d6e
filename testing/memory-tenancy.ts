import { compareKeys } from '../stores/migration/differences.ts';
import { StoreError } from '../stores/store-error.ts';
import { CompactedError } from '../stores/tenancy-data.ts';
import type { StoredChange, StoredEntry, TenancyData } from '../stores/tenancy-data.ts';

const keysOfPage = 3;
const changesOfCall = 3;

/** A tenancy in a store in memory: what its tenant does, and the data as a migration sees them, in small pages. */
export class MemoryTenancy {
  /** Every change there was, with the revision that it made. */
  readonly log: { readonly revision: bigint; readonly change: StoredChange }[] = [];
  revision = 1n;
  fenced = false;
  /** Changes up to here are forgotten. */
  compacted = 0n;
  /** Raising forgets all changes before, as it does in kine's tables. */
  compactsOnRaise = false;
  /** Called before and after each call takes effect, with its name. May throw or wait. */
  before: (call: string) => void | Promise<void> = () => undefined;
  after: (call: string) => void | Promise<void> = () => undefined;

  /** As the tenant. Throws when it is fenced. */
  tenantWrites(...changes: readonly StoredChange[]): void {
    if (this.fenced) throw new StoreError('Unauthorized', 'permission denied');
    for (const change of changes) this.#apply(change);
  }

  /** What there is, by key. */
  content(revision = this.revision): ReadonlyMap<string, StoredEntry> {
    const entries = new Map<string, StoredEntry>();
    for (const one of this.log) {
      if (one.revision > revision) break;
      if (one.change.is === 'put') entries.set(one.change.entry.key, one.change.entry);
      else entries.delete(one.change.key);
    }
    return entries;
  }

  /** Keys with their values as text, in order. */
  texts(): readonly (readonly [string, string])[] {
    return [...this.content().values()]
      .sort((left, right) => compareKeys(left.key, right.key))
      .map(({ key, value }) => [key, Buffer.from(value).toString()]);
  }

  /** A connection with administrative rights. */
  open(): TenancyData {
    return {
      revision: () => this.#call('revision', () => this.revision),
      count: () => this.#call('count', () => this.content().size),
      pages: (revision) => this.#pages(revision),
      changes: (after) => this.#call('changes', () => this.#changes(after)),
      write: (changes) =>
        this.#call('write', () => {
          for (const change of changes) this.#apply(change);
        }),
      raise: (revision, tell) =>
        this.#call('raise', () => {
          if (revision > this.revision) {
            this.revision = revision;
            if (this.compactsOnRaise) this.compacted = revision;
          }
          tell?.(this.revision);
        }),
      fence: () =>
        this.#call('fence', () => {
          this.fenced = true;
        }),
      unfence: () =>
        this.#call('unfence', () => {
          this.fenced = false;
        }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  async #call<T>(name: string, effect: () => T): Promise<T> {
    await this.before(name);
    const result = effect();
    await this.after(name);
    return result;
  }

  async *#pages(revision: bigint): AsyncIterable<readonly StoredEntry[]> {
    for (let from = 0; ; from += keysOfPage) {
      const page = await this.#call('pages', () => {
        if (revision < this.compacted) throw new CompactedError(`revision ${revision} was compacted`);
        const all = [...this.content(revision).values()];
        return all.sort((left, right) => compareKeys(left.key, right.key)).slice(from, from + keysOfPage);
      });
      if (page.length > 0) yield page;
      if (page.length < keysOfPage) return;
    }
  }

  #changes(after: bigint): { readonly changes: readonly StoredChange[]; readonly revision: bigint } {
    if (after < this.compacted) throw new CompactedError(`the changes after revision ${after} were compacted`);
    const all = this.log.filter(({ revision }) => revision > after);
    const some = all.slice(0, changesOfCall);
    const changes = some.map(({ change }) => change);
    return { changes, revision: all.length > some.length ? (some.at(-1)?.revision ?? after) : this.revision };
  }

  #apply(change: StoredChange): void {
    if (change.is === 'deleted' && !this.content().has(change.key)) return;
    this.revision += 1n;
    this.log.push({ revision: this.revision, change });
  }
}
