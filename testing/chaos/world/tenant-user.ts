import { StoreError } from '../../../stores/store-error.ts';
import { put } from '../../builders/put.ts';
import type { MemoryTenancy } from '../../fake/memory-tenancy.ts';

/** Keys that are written in turn. */
const keys = ['a', 'b', 'c'].map((name) => `configmaps/default/${name}`);

/**
 * A user of the tenant with a register for each key: it writes through whatever API server it reaches, and remembers what was
 * acknowledged. Whoever reads a key must find the last acknowledged value.
 */
export class TenantUser {
  /** The last acknowledged value of each key. */
  readonly acknowledged = new Map<string, string>();
  /** Acknowledged writes that a read did not find, for people. */
  readonly missed = new Set<string>();
  /** What was acknowledged when a backup was requested. */
  requested: ReadonlyMap<string, string> = new Map();
  writes = 0;

  /** Knows what another one knows. */
  copyFrom(other: TenantUser): void {
    this.acknowledged.clear();
    for (const [key, value] of other.acknowledged) this.acknowledged.set(key, value);
    this.writes = other.writes;
  }

  /** Reads all keys, and writes one; a write that is denied is an error for the user, and nothing that was acknowledged. */
  use(data: MemoryTenancy): void {
    this.look(data);
    this.writes += 1;
    // All values have the same length, as reports of sizes are compared.
    const [key = '', value] = [keys[this.writes % keys.length], String(this.writes).padStart(8, '0')];
    try {
      data.tenantWrites(put(key, value));
      this.acknowledged.set(key, value);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }

  /** Reads all keys. */
  look(data: MemoryTenancy): void {
    const found = new Map(data.texts());
    for (const [key, value] of this.acknowledged) {
      if (found.get(key) !== value) this.missed.add(`${key} is ${found.get(key) ?? 'absent'}, not ${value}`);
    }
  }
}
