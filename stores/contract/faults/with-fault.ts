import type { StoredEntry, TenancyData } from '../../tenancy-data.ts';
import { withOtherEnd } from '../../with-dispose.ts';

/** When a fault happens: after the first page was read, after the first changes were written, or around another call. */
export type FaultPoint = 'first page' | 'first write' | 'after fence' | 'before endWrites';

/** A fault that happens once, however often the data are opened. */
export class Fault {
  readonly #at: FaultPoint;
  readonly #cause: () => Promise<unknown>;
  #happened = false;

  constructor(at: FaultPoint, cause: () => Promise<unknown>) {
    this.#at = at;
    this.#cause = cause;
  }

  get happened(): boolean {
    return this.#happened;
  }

  async #reach(at: FaultPoint): Promise<void> {
    if (at !== this.#at || this.#happened) return;
    this.#happened = true;
    await this.#cause();
  }

  /** The same data; whoever uses them waits while the fault happens. */
  in(data: TenancyData): TenancyData {
    return {
      ...withOtherEnd(data, async () => data[Symbol.asyncDispose]()),
      pages: (revision) => this.#pages(data.pages(revision)),
      write: async (changes) => {
        await data.write(changes);
        if (changes.length > 0) await this.#reach('first write');
      },
      fence: async () => {
        await data.fence();
        await this.#reach('after fence');
      },
      endWrites: async () => {
        await this.#reach('before endWrites');
        await data.endWrites();
      },
    };
  }

  async *#pages(pages: AsyncIterable<readonly StoredEntry[]>): AsyncIterable<readonly StoredEntry[]> {
    for await (const page of pages) {
      yield page;
      await this.#reach('first page');
    }
  }
}
