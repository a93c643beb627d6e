import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';

/** What one process remembers of tenants between reconciles; losing it costs a few calls and nothing else. */
export class ReconcileCache {
  readonly #facts: ObjectSlot<Map<string, string>>;

  constructor(memory: ObjectMemory) {
    this.#facts = memory.slot('facts about tenants');
  }

  /** True when `fact` was remembered for this tenant with this checksum. */
  has(uid: string, fact: string, checksum: string): boolean {
    return this.#facts.get(uid)?.get(fact) === checksum;
  }

  /** The value last remembered under this name. */
  recall(uid: string, fact: string): string | undefined {
    return this.#facts.get(uid)?.get(fact);
  }

  remember(uid: string, fact: string, checksum: string): void {
    this.#facts.getOrMake(uid, () => new Map<string, string>()).set(fact, checksum);
  }

  /** Forgets one fact about a tenant. */
  forget(uid: string, fact: string): void {
    this.#facts.get(uid)?.delete(fact);
  }
}
