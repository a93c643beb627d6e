import type { Key, Resource } from '../api/meta.ts';
import type { Clock } from './clock.ts';
import type { Cluster } from './cluster.ts';
import type { Context, Controller, LastVisit, Visit } from './controller.ts';
import { ApiError } from './errors.ts';
import type { EventSink } from './events.ts';
import type { Logger } from './logger.ts';
import { mergePatchOf } from './merge-patch-of.ts';
import { keyOf, textOf } from './object-id.ts';

export interface VisitorOptions {
  readonly controller: Controller;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly events: EventSink;
  /** Aborted when the process must not act any more. */
  readonly stop: AbortSignal;
  /** Told each state of the object that our own writes led to. */
  wrote(object: Resource): void;
}

/** What a visit asks of the queue. */
export interface VisitEnd {
  readonly error?: unknown;
  readonly afterMs?: number;
  /** Somebody changed the object meanwhile: look again soon. */
  readonly again?: boolean;
  readonly timedOut?: boolean;
}

const defaultTimeoutMs = 30_000;

/** One visit of one object: pause, finalizers, reconcile or finalize within a deadline, one status patch. */
export class ObjectVisitor {
  readonly #options: VisitorOptions;
  /** Why each paused object rests, so that it is said once. */
  readonly #paused = new Map<string, string>();

  constructor(options: VisitorOptions) {
    this.#options = options;
  }

  /** Never rejects for an error of the controller or the API server: it is in the result. */
  async visit(object: Resource, log: Logger): Promise<VisitEnd> {
    if (this.#options.controller.serves?.(object) === false) return {};
    const deleting = object.metadata.deletionTimestamp !== undefined;
    const ours = this.#released().filter((name) => object.metadata.finalizers?.includes(name));
    if (deleting && ours.length === 0) return {};
    if (this.#rests(object, log)) return {};
    try {
      return await (deleting ? this.#last(object, log) : this.#regular(object, log));
    } catch (error) {
      return this.#judge(error);
    }
  }

  /** The object is gone: nothing is remembered of it. */
  forget(key: string): void {
    this.#paused.delete(key);
  }

  #rests(object: Resource, log: Logger): boolean {
    const { controller, events } = this.#options;
    const key = textOf(keyOf(object));
    const why = controller.paused?.(object);
    const before = this.#paused.get(key);
    if (why === undefined) {
      this.#paused.delete(key);
      if (before !== undefined)
        events.record(object, { type: 'Normal', reason: 'Resumed', message: 'reconciled again' });
      return false;
    }
    this.#paused.set(key, why);
    if (before !== why) {
      events.record(object, { type: 'Normal', reason: 'Paused', message: why });
      log.info('the object rests', { reason: why });
    }
    return true;
  }

  async #regular(object: Resource, log: Logger): Promise<VisitEnd> {
    const missing = (this.#options.controller.finalizers ?? []).filter(
      (name) => !(object.metadata.finalizers ?? []).includes(name),
    );
    const held =
      missing.length === 0
        ? object
        : await this.#setFinalizers(object, [...(object.metadata.finalizers ?? []), ...missing]);
    const { visit, timedOut } = await this.#within(held, log, (ctx) => this.#options.controller.reconcile(held, ctx));
    return { ...(await this.#leave(held, visit)), timedOut };
  }

  async #last(object: Resource, log: Logger): Promise<VisitEnd> {
    const { controller } = this.#options;
    const finished: LastVisit<Resource> = { finished: true };
    const { visit, timedOut } = await this.#within(
      object,
      log,
      async (ctx) => (await controller.finalize?.(object, ctx)) ?? finished,
    );
    if (!('finished' in visit) || !visit.finished || visit.error !== undefined) {
      return { ...(await this.#leave(object, visit)), timedOut };
    }
    const released = this.#released();
    const left = (object.metadata.finalizers ?? []).filter((name) => !released.includes(name));
    await this.#setFinalizers(object, left);
    return {};
  }

  /** Runs the controller's own part. What it throws becomes the visit's error. */
  async #within<V extends Visit<Resource>>(
    object: Resource,
    log: Logger,
    run: (ctx: Context) => Promise<V>,
  ): Promise<{ readonly visit: V | Visit<Resource>; readonly timedOut: boolean }> {
    const { controller, clock, events, stop } = this.#options;
    const timeoutMs = controller.timeoutMs ?? defaultTimeoutMs;
    const late = new AbortController();
    const timer = clock.after(timeoutMs, () => {
      log.warn('the visit takes longer than it may and is aborted', { timeoutMs });
      late.abort(new Error(`the visit took longer than ${timeoutMs / 1000} s`));
    });
    const ctx: Context = {
      signal: AbortSignal.any([stop, late.signal]),
      now: clock.now(),
      log,
      event: (type, reason, message) => {
        events.record(object, { type, reason, message });
      },
    };
    try {
      return { visit: await run(ctx), timedOut: late.signal.aborted };
    } catch (error) {
      return { visit: { error }, timedOut: late.signal.aborted };
    } finally {
      timer.cancel();
    }
  }

  /** The finalizers that are taken away at the end. */
  #released(): readonly string[] {
    const { finalizers = [], formerFinalizers = [] } = this.#options.controller;
    return [...finalizers, ...formerFinalizers];
  }

  /** Writes the status and says what the queue shall do. */
  async #leave(object: Resource, visit: Visit<Resource>): Promise<VisitEnd> {
    const end: VisitEnd = {
      ...(visit.error === undefined ? {} : { error: visit.error }),
      ...(visit.afterMs === undefined ? {} : { afterMs: visit.afterMs }),
    };
    try {
      await this.#writeStatus(object, visit);
      return end;
    } catch (error) {
      const own = this.#judge(error);
      // The visit's own error says more than that the status could not be written either.
      return { ...own, ...end };
    }
  }

  async #writeStatus(object: Resource, visit: Visit<Resource>): Promise<void> {
    const status: unknown = visit.status;
    if (status === undefined) return;
    const patch = mergePatchOf('status' in object ? object.status : undefined, status);
    if (patch === undefined) return;
    const after = await this.#patch(object, { status: patch }, 'status');
    visit.stored?.(after);
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
      { signal: stop, ...(subresource === undefined ? {} : { subresource }) },
    );
    this.#options.wrote(after);
    return after;
  }

  #judge(error: unknown): VisitEnd {
    if (error instanceof ApiError && error.code === 409) return { again: true };
    // Gone while it was visited: the informer will say so.
    if (error instanceof ApiError && error.code === 404) return {};
    return { error };
  }
}
