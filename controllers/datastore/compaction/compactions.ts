import type { DataStore, DataStoreStatus } from '../../../api/steward/v1alpha1/data-store.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { CompactionMemory, CompactionStep } from '../../../stores/compaction.ts';
import { StoreError } from '../../../stores/store-error.ts';
import type { ProbedStore } from '../dependencies.ts';
import { eventOf, limitsOf, withCompaction } from './compaction-status.ts';

/** After a look that failed, in milliseconds. */
const retryMs = 5_000;

interface Known {
  readonly memory: CompactionMemory;
  /** Of the spec that was acted on. */
  readonly generation: number;
  /** On the monotonic clock. */
  readonly due: number;
}

/** A status, and in how many milliseconds it is to be renewed. */
interface Reported {
  readonly status: DataStoreStatus;
  readonly afterMs: number;
}

/** The same, and whether the next look has to be in time. */
export interface LookedAt extends Reported {
  readonly hasMore: boolean;
}

/** Without a request to be in time, the next reconcile follows after so long. */
const restMs = 60_000;

/** Compacts the history of datastores early whose spec requests it, before it uses up their quota. */
export class Compactions {
  readonly #clock: Clock;
  readonly #known: ObjectSlot<Known>;

  constructor(clock: Clock, memory: ObjectMemory) {
    this.#clock = clock;
    this.#known = memory.slot('early compactions');
  }

  /** Adds a look, if one is due, to the result of a reconcile in which the datastore could be used. */
  async after(
    store: DataStore,
    { status, afterMs }: Reported,
    { open, ctx }: { readonly open: () => Promise<Pick<ProbedStore, 'probe'>>; readonly ctx: Context },
  ): Promise<LookedAt> {
    const { uid } = store.metadata;
    const isRequested = store.spec.etcd?.compaction !== undefined;
    if (!isRequested) this.#known.delete(uid);
    const step = isRequested && status.ready === true && this.#isDue(store) ? await this.#look(store, open) : undefined;
    const result = withCompaction(store, status, { step, now: ctx.now });
    const event = step === undefined ? undefined : eventOf(store.status, result);
    if (event !== undefined) ctx.event(...event);
    const due = status.ready === true ? this.#known.get(uid)?.due : undefined;
    if (due === undefined) return { status: result, afterMs, hasMore: false };
    // In place of the next probe, which may wait for a minute: only a look has to be in time.
    const untilDue = Math.max(due - this.#clock.monotonic(), 0);
    return { status: result, afterMs: untilDue, hasMore: untilDue < restMs };
  }

  #isDue({ metadata: { uid, generation } }: DataStore): boolean {
    const known = this.#known.get(uid);
    return known?.generation !== generation || this.#clock.monotonic() >= known.due;
  }

  async #look(
    store: DataStore,
    open: () => Promise<Pick<ProbedStore, 'probe'>>,
  ): Promise<Pick<CompactionStep, 'compaction' | 'without'> | undefined> {
    const spec = store.spec.etcd?.compaction;
    if (spec === undefined) return undefined;
    const { uid, generation } = store.metadata;
    const memory = this.#known.get(uid)?.memory ?? { seen: [] };
    const note = (after: CompactionMemory, ms: number): void => {
      this.#known.set(uid, { memory: after, generation, due: this.#clock.monotonic() + ms });
    };
    try {
      const request = { limits: limitsOf(spec), memory, clock: this.#clock };
      const opened = await open();
      const step = await opened.probe(async (session) => session.compactEarly?.(request));
      if (step !== undefined) note(step.memory, step.afterMs);
      return step;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      note(memory, retryMs);
      return { without: { reason: 'Failed', message: error.message } };
    }
  }
}
