/** What one process remembers of tenants between visits; losing it costs a few calls and nothing else. */
export class Memory {
  readonly #facts = new Map<string, Map<string, string>>();

  /** True when `fact` was remembered for this tenant with this very checksum. */
  has(uid: string, fact: string, checksum: string): boolean {
    return this.#facts.get(uid)?.get(fact) === checksum;
  }

  /** What was remembered last under this name. */
  recall(uid: string, fact: string): string | undefined {
    return this.#facts.get(uid)?.get(fact);
  }

  remember(uid: string, fact: string, checksum: string): void {
    const facts = this.#facts.get(uid) ?? new Map<string, string>();
    facts.set(fact, checksum);
    this.#facts.set(uid, facts);
  }

  /** Forgets one fact, or all of a tenant. */
  forget(uid: string, fact?: string): void {
    if (fact === undefined) this.#facts.delete(uid);
    else this.#facts.get(uid)?.delete(fact);
  }
}
