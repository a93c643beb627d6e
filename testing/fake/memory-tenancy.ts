import { compareKeys } from '../../stores/migration/differences.ts';
import { endedWritesError } from '../../stores/ended-writes-error.ts';
import { StoreError } from '../../stores/store-error.ts';
import { CompactedError, isCopied, largestPage } from '../../stores/tenancy-data.ts';
import type { StoredChange, StoredEntry, TenancyData } from '../../stores/tenancy-data.ts';

/** How a tenancy in memory behaves. */
export interface MemoryTenancyOptions {
  /** Most keys of a page, and most changes of a call. Small ones make a migration take many steps. */
  readonly most?: number;
  /** Milliseconds by which times to live pass; unless given they do not. */
  readonly now?: () => number;
}

/** A tenancy in a store in memory: what its tenant does, and the data as a migration sees them, in small pages. */
export class MemoryTenancy {
  /** Every change there was, with the revision that it made. */
  readonly log: { readonly revision: bigint; readonly at?: number; readonly change: StoredChange }[] = [];
  revision = 1n;
  fenced = false;
  /** While it is fenced, what is not copied may be written. */
  #openUncopied = false;
  /** The connection that may write: each one has a token of its own. */
  #writer: symbol | undefined;
  /** Changes up to here are forgotten. */
  compacted = 0n;
  /** Raising forgets all changes before, as it does in kine's tables. */
  compactsOnRaise = false;
  /** Called before and after each call takes effect, with its name. May throw or wait. */
  before: (call: string) => void | Promise<void> = () => undefined;
  after: (call: string) => void | Promise<void> = () => undefined;

  readonly #most: number;
  readonly #now: () => number;

  constructor({ most = 3, now = () => 0 }: MemoryTenancyOptions = {}) {
    this.#most = most;
    this.#now = now;
  }

  /** Holds what another one holds, in place of what it held; its hooks are its own. */
  copyFrom(other: MemoryTenancy): void {
    this.log.splice(0, Infinity, ...other.log);
    this.revision = other.revision;
    this.fenced = other.fenced;
    this.#openUncopied = other.#openUncopied;
    this.compacted = other.compacted;
    this.compactsOnRaise = other.compactsOnRaise;
  }

  /** As the tenant. Throws when it is fenced. */
  tenantWrites(...changes: readonly StoredChange[]): void {
    for (const change of changes) {
      const isOpen = !this.fenced || (this.#openUncopied && !isCopied(keyOf(change)));
      if (!isOpen) throw new StoreError('Unauthorized', 'permission denied');
      this.#apply(change);
    }
  }

  /** What there is, by key. */
  content(revision = this.revision): ReadonlyMap<string, StoredEntry> {
    const entries = new Map<string, StoredEntry>();
    for (const one of this.log) {
      if (one.revision > revision) break;
      if (one.change.is === 'deleted') {
        entries.delete(one.change.key);
        continue;
      }
      const { entry } = one.change;
      const ttlMs = entry.ttlMs === undefined ? undefined : entry.ttlMs - (this.#now() - (one.at ?? 0));
      if (ttlMs === undefined) entries.set(entry.key, entry);
      else if (ttlMs > 0) entries.set(entry.key, { ...entry, ttlMs });
      else entries.delete(entry.key);
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
    let token: symbol | undefined;
    return {
      revision: () => this.#call('revision', () => this.revision),
      count: () => this.#call('count', () => [...this.content().keys()].filter(isCopied).length),
      pages: (revision) => this.#pages(revision),
      changes: (after, through) => this.#call('changes', () => this.#changes(after, through)),
      beginWrites: async () => {
        const mine = Symbol('writer');
        await this.#call('beginWrites', () => {
          this.#writer = mine;
        });
        token = mine;
      },
      write: (changes) =>
        this.#call('write', () => {
          if (token === undefined || token !== this.#writer) throw endedWritesError('the store in memory');
          for (const change of changes) this.#apply(change);
        }),
      endWrites: () =>
        this.#call('endWrites', () => {
          this.#writer = undefined;
          token = undefined;
        }),
      raise: (revision, onProgress) =>
        this.#call('raise', () => {
          if (revision > this.revision) {
            this.revision = revision;
            if (this.compactsOnRaise) this.compacted = revision;
          }
          onProgress?.(this.revision);
        }),
      fence: () =>
        this.#call('fence', () => {
          this.fenced = true;
          this.#openUncopied = false;
        }),
      openUncopied: () =>
        this.#call('openUncopied', () => {
          this.#openUncopied = true;
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
    for (let last: string | undefined; ;) {
      const page = await this.#call('pages', () => this.#page(revision, last));
      if (page.length > 0) yield page;
      last = page.at(-1)?.key;
      if (page.length < this.#most && !this.#hasMore(revision, last)) return;
    }
  }

  #page(revision: bigint, last: string | undefined): readonly StoredEntry[] {
    if (revision < this.compacted) throw new CompactedError(`revision ${revision} was compacted`);
    return bounded(this.#after(revision, last), this.#most, ({ value }) => value.length);
  }

  #hasMore(revision: bigint, last: string | undefined): boolean {
    return last !== undefined && this.#after(revision, last).length > 0;
  }

  /** Keys of the data after this one, in order. */
  #after(revision: bigint, last: string | undefined): readonly StoredEntry[] {
    return [...this.content(revision).values()]
      .filter(({ key }) => isCopied(key) && (last === undefined || compareKeys(key, last) > 0))
      .sort((left, right) => compareKeys(left.key, right.key));
  }

  #changes(
    after: bigint,
    through = this.revision,
  ): { readonly changes: readonly StoredChange[]; readonly revision: bigint } {
    if (after < this.compacted) throw new CompactedError(`the changes after revision ${after} were compacted`);
    const all = this.log.filter(({ revision }) => revision > after && revision <= through);
    const some = bounded(all, this.#most, ({ change }) => (change.is === 'put' ? change.entry.value.length : 0));
    const changes = some.map(({ change }) => change).filter((change) => isCopied(keyOf(change)));
    return { changes, revision: all.length > some.length ? (some.at(-1)?.revision ?? after) : through };
  }

  #apply(change: StoredChange): void {
    if (change.is === 'deleted' && !this.content().has(change.key)) return;
    this.revision += 1n;
    this.log.push({ revision: this.revision, at: this.#now(), change });
  }
}

function keyOf(change: StoredChange): string {
  return change.is === 'put' ? change.entry.key : change.key;
}

/** The first of these: at most this many, and no more bytes than a page may have, unless a single one is larger. */
function bounded<T>(all: readonly T[], most: number, sizeOf: (one: T) => number): readonly T[] {
  let size = 0;
  const end = all.slice(0, most).findIndex((one, index) => {
    size += sizeOf(one);
    return index > 0 && size > largestPage;
  });
  return all.slice(0, end < 0 ? most : end);
}
