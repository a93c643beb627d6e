import type { DataStore, DataStoreStatus } from '../../../api/steward/v1alpha1/data-store.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Context, ReconcileResult } from '../../../runtime/reconcile/controller.ts';
import type { DefragmentationStep } from '../../../stores/defragmentation.ts';
import { StoreError } from '../../../stores/store-error.ts';
import type { ProbedStore } from '../dependencies.ts';
import { eventOf, limitsOf, previousOf, withDefragmentation } from './defragmentation-status.ts';

/** A datastore cannot report that it has become fragmented. */
const pauseMs = 60_000;

interface Known {
  /** Of the spec that was acted on. */
  readonly generation: number;
  /** On the monotonic clock. */
  readonly due: number;
}

/** Defragments datastores whose spec requests it, one step in each reconcile. */
export class Defragmentations {
  readonly #clock: Clock;
  readonly #known: ObjectSlot<Known>;

  constructor(clock: Clock, memory: ObjectMemory) {
    this.#clock = clock;
    this.#known = memory.slot('due defragmentations');
  }

  /** Adds a step, if one is due, to the result of a reconcile in which the datastore could be used. */
  async after(
    store: DataStore,
    { status, afterMs }: { readonly status: DataStoreStatus; readonly afterMs: number },
    { open, ctx }: { readonly open: () => Promise<Pick<ProbedStore, 'probe'>>; readonly ctx: Context },
  ): Promise<ReconcileResult<DataStore>> {
    const step = status.ready === true && this.#isDue(store) ? await this.#step(store, open, ctx) : undefined;
    const result = withDefragmentation(store, status, { step, now: ctx.now });
    if (step === undefined) return { status: result, afterMs };
    const event = eventOf(store.status, step);
    if (event !== undefined) ctx.event(...event);
    const { generation, uid } = store.metadata;
    const hasMore = step.is !== 'unneeded' && step.is !== 'waits';
    this.#known.set(uid, { generation, due: this.#clock.monotonic() + (hasMore ? 0 : pauseMs) });
    return { status: result, afterMs: hasMore ? 0 : afterMs, hasMore };
  }

  #isDue({ metadata, spec }: DataStore): boolean {
    if (spec.etcd?.defragmentation === undefined) return false;
    const known = this.#known.get(metadata.uid);
    return known?.generation !== metadata.generation || this.#clock.monotonic() >= known.due;
  }

  async #step(
    store: DataStore,
    open: () => Promise<Pick<ProbedStore, 'probe'>>,
    { signal }: Context,
  ): Promise<DefragmentationStep | undefined> {
    const spec = store.spec.etcd?.defragmentation;
    if (spec === undefined) return undefined;
    const request = { limits: limitsOf(spec), previous: previousOf(store), clock: this.#clock, signal };
    try {
      const opened = await open();
      return await opened.probe(async (session) => session.defragment?.(request));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return { is: 'waits', reason: 'Failed', message: error.message };
    }
  }
}
