import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../runtime/cache/object-slot.ts';
import type { Clock } from '../../runtime/clock.ts';
import { StoreError } from '../../stores/store-error.ts';
import type { ServerState, Session } from '../../stores/driver.ts';
import type { ProbedStore } from './dependencies.ts';

/** The result of a check. */
export type Finding = { readonly state: ServerState } | { readonly failure: StoreError };

const healthyMs = 15_000;
const firstRetryMs = 1_000;
const lastRetryMs = 10_000;

interface Known {
  readonly checksum: string;
  readonly finding: Finding;
  readonly failures: number;
  /** On the monotonic clock. */
  readonly due: number;
}

/**
 * Checks each datastore periodically: every 15 seconds while it works, after one second and then doubling up to ten while
 * it does not, and at once when its configuration has changed. In between the last result is used.
 */
export class Probes {
  readonly #clock: Clock;
  readonly #known: ObjectSlot<Known>;

  constructor(clock: Clock, memory: ObjectMemory) {
    this.#clock = clock;
    this.#known = memory.slot('findings about stores');
  }

  /** The finding, and in how many milliseconds it is to be renewed. Errors that are no `StoreError` are thrown on. */
  async ask(
    store: DataStore,
    open: () => Promise<ProbedStore>,
  ): Promise<{ readonly finding: Finding; readonly afterMs: number }> {
    const uid = store.metadata.uid;
    const before = this.#known.get(uid);
    let checksum = '';
    const finding = await findingOf(async () => {
      const opened = await open();
      checksum = opened.checksum;
      if (before?.checksum === checksum && this.#clock.monotonic() < before.due) return before.finding;
      return { state: await opened.probe(look) };
    });
    if (finding === before?.finding) return { finding, afterMs: this.#left(before.due) };
    const failures = 'failure' in finding ? (before?.checksum === checksum ? before.failures : 0) + 1 : 0;
    const pause = failures === 0 ? healthyMs : Math.min(firstRetryMs * 2 ** (failures - 1), lastRetryMs);
    this.#known.set(uid, { checksum, finding, failures, due: this.#clock.monotonic() + pause });
    return { finding, afterMs: pause };
  }

  #left(due: number): number {
    return Math.max(due - this.#clock.monotonic(), 0);
  }
}

async function findingOf(ask: () => Promise<Finding>): Promise<Finding> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof StoreError) return { failure: error };
    throw error;
  }
}

/** What the server reports. A datastore whose compaction cannot be published can still be used. */
async function look(session: Session): Promise<ServerState> {
  const state = await session.ping();
  try {
    await session.publishCompaction?.();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { ...state, notes: [...(state.notes ?? []), error.message] };
  }
  return state;
}
