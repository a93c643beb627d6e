import type { Key, Resource } from '../api/meta.ts';
import type { Clock } from './clock.ts';
import type { Cluster } from './cluster.ts';
import type { Context, Controller, LastVisit, Visit, WaitsElsewhere } from './controller.ts';
import {
  definitionOutdatedText,
  definitionOutdatedType,
  keepingDefinitionOutdated,
  lostFields,
  withDefinitionOutdated,
} from './definition-outdated.ts';
import { ApiError } from './errors.ts';
import type { EventSink } from './events.ts';
import type { Logger } from './logger.ts';
import { mergePatchOf } from './merge-patch-of.ts';
import { keyOf } from './object-id.ts';
import type { ObjectMemory } from './object-memory.ts';
import type { ObjectSlot } from './object-slot.ts';

export interface VisitorOptions {
  readonly controller: Controller;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly events: EventSink;
  /** Aborted when the process must not act any more. */
  readonly stop: AbortSignal;
  readonly memory: ObjectMemory;
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
  readonly elsewhere?: WaitsElsewhere;
  /** Whether the visit changed something in the management cluster. */
  readonly progressed?: boolean;
  readonly hasMore?: boolean;
  /** True when the API server does not keep all that is sent as status. */
  readonly outdated?: boolean;
  /** True when the visit was ended to make room for others: what it found counts for nothing. */
  readonly isCut?: boolean;
}

const defaultTimeoutMs = 30_000;

interface Visited {
  readonly object: Resource;
  readonly log: Logger;
  readonly cut: AbortSignal | undefined;
}

/** One visit of one object: pause, finalizers, reconcile or finalize within a deadline, one status patch. */
export class ObjectVisitor {
  readonly #options: VisitorOptions;
  /** Why each paused object rests, so that it is said once. */
  readonly #paused: ObjectSlot<string>;

  constructor(options: VisitorOptions) {
    this.#options = options;
    this.#paused = options.memory.slot(`${options.controller.name}: paused`);
  }

  /**
   * Never rejects for an error of the controller or the API server: it is in the result. When `cut` aborts, the visit ends without
   * a status: what it says then is not the object's fault.
   */
  async visit(object: Resource, log: Logger, cut?: AbortSignal): Promise<VisitEnd> {
    if (this.#options.controller.serves?.(object) === false) return {};
    const deleting = object.metadata.deletionTimestamp !== undefined;
    const ours = this.#released().filter((name) => object.metadata.finalizers?.includes(name));
    if (deleting && ours.length === 0) return {};
    if (this.#rests(object, log)) return {};
    try {
      const at = { object, log, cut };
      return await (deleting ? this.#last(at) : this.#regular(at));
    } catch (error) {
      return this.#judge(error);
    }
  }

  #rests(object: Resource, log: Logger): boolean {
    const { controller, events } = this.#options;
    const { uid = '' } = object.metadata;
    const why = controller.paused?.(object);
    const before = this.#paused.get(uid);
    if (why === undefined) {
      this.#paused.delete(uid);
      if (before !== undefined)
        events.record(object, { type: 'Normal', reason: 'Resumed', message: 'reconciled again' });
      return false;
    }
    this.#paused.set(uid, why);
    if (before !== why) {
      events.record(object, { type: 'Normal', reason: 'Paused', message: why });
      log.info('the object rests', { reason: why });
    }
    return true;
  }

  async #regular({ object, log, cut }: Visited): Promise<VisitEnd> {
    const missing = (this.#options.controller.finalizers ?? []).filter(
      (name) => !(object.metadata.finalizers ?? []).includes(name),
    );
    const held =
      missing.length === 0
        ? object
        : await this.#setFinalizers(object, [...(object.metadata.finalizers ?? []), ...missing]);
    const at = { object: held, log, cut };
    const { visit, timedOut } = await this.#within(at, (ctx) => this.#options.controller.reconcile(held, ctx));
    if (cut?.aborted === true) return { isCut: true };
    const end = await this.#leave(held, visit);
    return { ...end, progressed: end.progressed === true || missing.length > 0, timedOut };
  }

  async #last(at: Visited): Promise<VisitEnd> {
    const { object, cut } = at;
    const { controller } = this.#options;
    const finished: LastVisit<Resource> = { finished: true };
    const { visit, timedOut } = await this.#within(
      at,
      async (ctx) => (await controller.finalize?.(object, ctx)) ?? finished,
    );
    if (cut?.aborted === true) return { isCut: true };
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
    { object, log, cut }: Visited,
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
      signal: AbortSignal.any([stop, late.signal, ...(cut === undefined ? [] : [cut])]),
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
      ...(visit.elsewhere === undefined ? {} : { elsewhere: visit.elsewhere }),
      ...(visit.hasMore === undefined ? {} : { hasMore: visit.hasMore }),
    };
    try {
      return { ...end, ...(await this.#writeStatus(object, visit)) };
    } catch (error) {
      const own = this.#judge(error);
      // The visit's own error says more than that the status could not be written either.
      return { ...own, ...end };
    }
  }

  async #writeStatus(object: Resource, visit: Visit<Resource>): Promise<VisitEnd> {
    const { controller, clock, events } = this.#options;
    const status: unknown = visit.status;
    if (status === undefined) return {};
    const before = statusOf(object);
    const wanted = keepingDefinitionOutdated(status, before);
    const patch = mergePatchOf(before, wanted);
    const after = patch === undefined ? object : await this.#patch(object, { status: patch }, 'status');
    if (patch !== undefined) visit.stored?.(after);
    const { kind } = controller.kind;
    const fields = lostFields(wanted, statusOf(after), 'status');
    const at = { generation: object.metadata.generation ?? 0, now: clock.now() };
    const told = withDefinitionOutdated(wanted, { kind, fields }, at);
    const more = mergePatchOf(wanted, told);
    const last = more === undefined ? after : await this.#patch(after, { status: more }, 'status');
    if (fields.length > 0 && (more !== undefined || told === status)) {
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

function statusOf(object: Resource): unknown {
  return 'status' in object ? object.status : undefined;
}
