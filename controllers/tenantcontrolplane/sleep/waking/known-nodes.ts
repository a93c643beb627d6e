import type { NodeAddressPage } from './node-address-page.ts';

/** So many addresses are noted: as many as the activator takes, and at most 92 kB of the 256 kB that an object has for its annotations. */
export const mostAddresses = 2_000;

/** So many pages of nodes are read. */
const mostPages = 20;

/** All pages together may be so long, in characters. Each is bounded by the client as well. */
const mostLength = 32 * 1024 * 1024;

/** The addresses of a tenant's nodes as far as they are noted: the first ones, in the order in which the tenant lists its nodes. */
export class KnownNodes {
  readonly #addresses = new Set<string>();
  #pages = 0;
  #length = 0;
  #isCut = false;

  /** True if there are more than are noted. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Takes what is on a page, and says whether to read the next one. */
  take({ addresses, next, isCut }: NodeAddressPage, length: number): boolean {
    this.#pages += 1;
    this.#length += length;
    this.#isCut ||= isCut;
    for (const address of addresses) {
      if (this.#addresses.size === mostAddresses && !this.#addresses.has(address)) return this.#cut();
      this.#addresses.add(address);
    }
    if (next === undefined) return false;
    return this.#pages === mostPages || this.#length > mostLength ? this.#cut() : true;
  }

  /** As an annotation has them: sorted, each once. */
  text(): string {
    return [...this.#addresses].sort().join(',');
  }

  #cut(): false {
    this.#isCut = true;
    return false;
  }
}
