import type { Key, Resource } from '../../api/meta.ts';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../client/cluster.ts';
import type { Context, Controller, LastReconcile, ReconcileResult, WaitsElsewhere } from './controller.ts';
import {
  definitionOutdatedText,
  definitionOutdatedType,
  keepingDefinitionOutdated,
  lostFields,
  withDefinitionOutdated,
} from './definition-outdated.ts';
import { ApiError } from '../client/errors.ts';
import type { EventSink } from '../observe/events.ts';
import { failSpan, inSpan } from '../observe/in-span.ts';
import type { Logger } from '../observe/logger.ts';
import { mergePatchOf } from '../client/merge-patch-of.ts';
import { keyOf } from '../cache/object-id.ts';
import type { ObjectMemory } from '../cache/object-memory.ts';
import type { ObjectSlot } from '../cache/object-slot.ts';

export interface ReconcilerOptions {
  readonly controller: Controller;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly events: EventSink;
  /** Aborted when the process must not act anymore. */
  readonly stop: AbortSignal;
  readonly memory: ObjectMemory;
  /** Called with each state of the object that our own writes led to. */
  wrote(object: Resource): void;
}

/** What a reconcile requests from the queue. */
export interface ReconcileOutcome {
  readonly error?: unknown;
  readonly afterMs?: number;
  /** The object changed meanwhile: reconcile again soon. */
  readonly again?: boolean;
  readonly timedOut?: boolean;
  readonly elsewhere?: WaitsElsewhere;
  /** Whether the reconcile changed something in the management cluster. */
  readonly progressed?: boolean;
  readonly hasMore?: boolean;
  /** True when the API server does not keep all that is sent as status. */
  readonly outdated?: boolean;
  /** True when the reconcile was ended to make room for others: its result is not used. */
  readonly isCut?: boolean;
}

const defaultTimeoutMs = 30_000;

interface ReconcileArguments {
  readonly object: Resource;
  readonly firstVersion?: string | undefined;
  readonly log: Logger;
  readonly cut: AbortSignal | undefined;
}

/** One reconcile of one object: pause, finalizers, reconcile or finalize within a deadline, one status patch. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  /** Why each paused object is paused, so that it is logged once. */
  readonly #paused: ObjectSlot<string>;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#paused = options.memory.slot(`${options.controller.name}: paused`);
  }

  /**
   * Never rejects for an error of the controller or the API server: it is in the result. When `cut` aborts, the reconcile ends without
   * a status: its failures then are not caused by the object.
   */
  async reconcile(object: Resource, log: Logger, cut?: AbortSignal): Promise<ReconcileOutcome> {
    if (this.#options.controller.serves?.(object) === false) return {};
    const deleting = object.metadata.deletionTimestamp !== undefined;
    const ours = this.#released().filter((name) => object.metadata.finalizers?.includes(name));
    if (deleting && ours.length === 0) return {};
    const why = this.#whyPaused(object, log);
    const { name, namespace = '', uid } = object.metadata;
    const attributes = { 'k8s.namespace.name': namespace, 'k8s.object.name': name, 'k8s.object.uid': uid };
    return inSpan(`reconcile ${this.#options.controller.name}`, attributes, async (span) => {
      const outcome = await this.#outcome({ object, log, cut }, { deleting, why });
      if (outcome.error !== undefined) failSpan(span, outcome.error);
      return outcome;
    });
  }

  async #outcome(
    at: ReconcileArguments,
    { deleting, why }: { readonly deleting: boolean; readonly why: string | undefined },
  ): Promise<ReconcileOutcome> {
    try {
      if (why !== undefined) return await this.#pause(at.object, why);
      return await (deleting ? this.#last(at) : this.#regular(at));
    } catch (error) {
      return this.#evaluate(error);
    }
  }

  /** Why the object is paused; the first time, and when the reason changes, it is reported in an Event and in the log. */
  #whyPaused(object: Resource, log: Logger): string | undefined {
    const { controller, events } = this.#options;
    const { uid } = object.metadata;
    const why = controller.paused?.(object);
    const before = this.#paused.get(uid);
    if (why === undefined) {
      this.#paused.delete(uid);
      if (before !== undefined)
        events.record(object, { type: 'Normal', reason: 'Resumed', message: 'reconciling has resumed' });
      return undefined;
    }
    this.#paused.set(uid, why);
    if (before !== why) {
      events.record(object, { type: 'Normal', reason: 'Paused', message: why });
      log.info('the object is paused', { reason: why });
    }
    return why;
  }

  async #pause(object: Resource, why: string): Promise<ReconcileOutcome> {
    const { controller, clock } = this.#options;
    return this.#leave(object, controller.whilePaused?.(object, { why, now: clock.now() }) ?? {});
  }

  async #regular({ object, log, cut }: ReconcileArguments): Promise<ReconcileOutcome> {
    const missing = (this.#options.controller.finalizers ?? []).filter(
      (name) => !(object.metadata.finalizers ?? []).includes(name),
    );
    const held =
      missing.length === 0
        ? object
        : await this.#setFinalizers(object, [...(object.metadata.finalizers ?? []), ...missing]);
    const firstVersion = missing.length === 0 ? undefined : object.metadata.resourceVersion;
    const at = { object: held, firstVersion, log, cut };
    const { result, timedOut } = await this.#within(at, (ctx) => this.#options.controller.reconcile(held, ctx));
    if (cut?.aborted === true) return { isCut: true };
    const end = await this.#leave(held, result);
    return { ...end, progressed: end.progressed === true || missing.length > 0, timedOut };
  }

  async #last(at: ReconcileArguments): Promise<ReconcileOutcome> {
    const { object, cut } = at;
    const { controller } = this.#options;
    const finished: LastReconcile<Resource> = { finished: true };
    const { result, timedOut } = await this.#within(
      at,
      async (ctx) => (await controller.finalize?.(object, ctx)) ?? finished,
    );
    if (cut?.aborted === true) return { isCut: true };
    if (!('finished' in result) || !result.finished || result.error !== undefined) {
      return { ...(await this.#leave(object, result)), timedOut };
    }
    const released = this.#released();
    const left = (object.metadata.finalizers ?? []).filter((name) => !released.includes(name));
    await this.#setFinalizers(object, left);
    return {};
  }

  /** Runs the controller's own part. What it throws becomes the reconcile's error. */
  async #within<V extends ReconcileResult<Resource>>(
    { object, firstVersion, log, cut }: ReconcileArguments,
    run: (ctx: Context) => Promise<V>,
  ): Promise<{ readonly result: V | ReconcileResult<Resource>; readonly timedOut: boolean }> {
    const { controller, clock, events, stop } = this.#options;
    const timeoutMs = controller.timeoutMs ?? defaultTimeoutMs;
    const late = new AbortController();
    const timer = clock.after(timeoutMs, () => {
      log.warn('the reconcile exceeded its timeout and is aborted', { timeoutMs });
      late.abort(new Error(`the reconcile took longer than ${timeoutMs / 1000} s`));
    });
    const ctx: Context = {
      signal: AbortSignal.any([stop, late.signal, ...(cut === undefined ? [] : [cut])]),
      now: clock.now(),
      log,
      firstVersion,
      event: (type, reason, message) => {
        events.record(object, { type, reason, message });
      },
    };
    try {
      return { result: await run(ctx), timedOut: late.signal.aborted };
    } catch (error) {
      return { result: { error }, timedOut: late.signal.aborted };
    } finally {
      timer.cancel();
    }
  }

  /** The finalizers that are removed at the end. */
  #released(): readonly string[] {
    const { finalizers = [], formerFinalizers = [] } = this.#options.controller;
    return [...finalizers, ...formerFinalizers];
  }

  /** Writes the status and says what the queue shall do. */
  async #leave(object: Resource, result: ReconcileResult<Resource>): Promise<ReconcileOutcome> {
    const { error, afterMs, elsewhere, hasMore } = result;
    const end: ReconcileOutcome = { error, afterMs, elsewhere, hasMore };
    try {
      return { ...end, ...(await this.#writeStatus(object, result)) };
    } catch (unwritten) {
      const own = this.#evaluate(unwritten);
      // The error of the reconcile is more important than the failure to write the status.
      return { ...end, ...own, error: error ?? own.error };
    }
  }

  async #writeStatus(object: Resource, result: ReconcileResult<Resource>): Promise<ReconcileOutcome> {
    const { controller, clock, events } = this.#options;
    const status: unknown = result.status;
    if (status === undefined) return {};
    const before = statusOf(object);
    const wanted = keepingDefinitionOutdated(status, before);
    const patch = mergePatchOf(before, wanted);
    const after = patch === undefined ? object : await this.#patch(object, { status: patch }, 'status');
    if (patch !== undefined) result.stored?.(after);
    const { kind } = controller.kind;
    const fields = lostFields(wanted, statusOf(after), 'status');
    const at = { generation: object.metadata.generation ?? 0, now: clock.now() };
    const withOutdated = withDefinitionOutdated(wanted, { kind, fields }, at);
    const more = mergePatchOf(wanted, withOutdated);
    const last = more === undefined ? after : await this.#patch(after, { status: more }, 'status');
    if (fields.length > 0 && (more !== undefined || withOutdated === status)) {
      const message = definitionOutdatedText(kind, fields);
      events.record(object, { type: 'Warning', reason: definitionOutdatedType, message });
    }
    const progressed = last.metadata.resourceVersion !== object.metadata.resourceVersion;
    return { progressed, ...(fields.length > 0 && { outdated: true }) };
  }

  #setFinalizers(object: Resource, finalizers: readonly string[]): Promise<Resource> {
    return this.#patch(object, { metadata: { finalizers } });
  }

  /** A merge patch that the server refuses when the object is not the one that was read. */
  async #patch(
    object: Resource,
    body: { readonly metadata?: object; readonly status?: unknown },
    subresource?: 'status',
  ): Promise<Resource> {
    const { cluster, controller, stop } = this.#options;
    const { resourceVersion } = object.metadata;
    const key: Key = keyOf(object);
    const after = await cluster.patch(
      controller.kind,
      key,
      { type: 'merge', body: { ...body, metadata: { ...body.metadata, resourceVersion } } },
      { signal: stop, subresource },
    );
    this.#options.wrote(after);
    return after;
  }

  #evaluate(error: unknown): ReconcileOutcome {
    if (error instanceof ApiError && error.code === 409) return { again: true };
    // Deleted while it was reconciled: the informer will report that.
    if (error instanceof ApiError && error.code === 404) return {};
    return { error };
  }
}

function statusOf(object: Resource): unknown {
  return 'status' in object ? object.status : undefined;
}
