import { randomUUID } from 'node:crypto';
import type { Key, Resource } from '../../api/meta.ts';
import type { Clock } from '../clock.ts';
import type { Cluster } from '../client/cluster.ts';
import type { Controller } from './controller.ts';
import type { EventSink } from '../observe/events.ts';
import type { Informer } from '../cache/informer.ts';
import type { InformerFactory } from '../cache/informer-factory.ts';
import { isOwnEcho } from '../cache/is-own-echo.ts';
import { withLogFields } from '../observe/log-context.ts';
import type { Logger } from '../observe/logger.ts';
import { messageOf } from './conditions.ts';
import { isOlder, keyFrom, keyOf, textOf } from '../cache/object-id.ts';
import type { ObjectMemory } from '../cache/object-memory.ts';
import type { ObjectSlot } from '../cache/object-slot.ts';
import { OwnedKeys } from './owned-keys.ts';
import { Reconciler } from './reconciler.ts';
import type { ReconcileOutcome } from './reconciler.ts';
import { priorityOf, type Occasion } from '../queue/priority-of.ts';
import { WorkQueue, type QueueMetrics } from '../queue/queue.ts';
import { retryOf } from '../queue/retry-policy.ts';
import { RetrySchedule } from '../queue/retry-schedule.ts';
import type { Turn } from '../queue/retry-schedule.ts';
import { stripNoise } from '../cache/strip-noise.ts';
import type { KeyShare } from '../shards/key-share.ts';

/** How a reconcile ended, in controller-runtime's words. */
export type ReconcileResultLabel = 'success' | 'error' | 'requeue' | 'requeue_after';

/** What a controller reports about its reconciles. */
export interface ReconcileMetrics {
  /** Keys that may be reconciled at once. */
  limit(concurrency: number): void;
  began(): void;
  ended(result: ReconcileResultLabel, seconds: number): void;
  failed(how: { readonly terminal: boolean; readonly timedOut: boolean }): void;
  /** A defect of the machine itself, not of a reconcile. */
  panicked(): void;
  /** How many objects are this process's own, where several share them. */
  owned?(keys: number): void;
}

export interface RunnerTools {
  readonly cluster: Cluster;
  readonly informers: Pick<InformerFactory, 'informer'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventSink;
  readonly metrics?: ReconcileMetrics;
  readonly queueMetrics?: QueueMetrics;
  /** Objects are dropped from it when they are gone, and when another manager reconciles them. */
  readonly memory: ObjectMemory;
  /** Which keys this process reconciles, where several processes share them; all of them by default. */
  readonly share?: KeyShare;
}

const defaultConcurrency = 8;

/** One controller at work: its informers feed its queue, its queue feeds its reconciles. */
export class ControllerRunner {
  readonly name: string;
  readonly #controller: Controller;
  readonly #tools: RunnerTools;
  readonly #queue: WorkQueue;
  readonly #reconciler: Reconciler;
  readonly #schedule: RetrySchedule;
  readonly #stop = new AbortController();
  readonly #informers: Informer[] = [];
  readonly #subscriptions: (() => void)[] = [];
  /** Objects as our own last write left them, while the cache is behind it. */
  readonly #written: ObjectSlot<Resource>;
  readonly #owned: OwnedKeys;
  #primary: Informer | undefined;

  constructor(controller: Controller, tools: RunnerTools) {
    this.name = controller.name;
    this.#controller = controller;
    this.#tools = tools;
    this.#written = tools.memory.slot(`${controller.name}: own writes`);
    const metrics = tools.queueMetrics;
    const usual = (key: string): number => priorityOf(this.#read(key), 'usual');
    this.#queue = new WorkQueue({ clock: tools.clock, metrics, priorityOf: usual });
    this.#schedule = new RetrySchedule({
      queue: this.#queue,
      clock: tools.clock,
      concurrency: controller.concurrency ?? defaultConcurrency,
      concernsMany: controller.concernsMany ?? false,
      stop: this.#stop.signal,
      missesEvents: () => this.#informers.some((informer) => informer.health().failingSince !== undefined),
    });
    this.#reconciler = new Reconciler({
      controller,
      cluster: tools.cluster,
      clock: tools.clock,
      events: tools.events,
      stop: this.#stop.signal,
      memory: tools.memory,
      wrote: (object) => {
        this.#written.set(uidOf(object), stripNoise(object));
      },
    });
    this.#owned = new OwnedKeys({
      share: tools.share,
      cluster: tools.cluster,
      kind: controller.kind,
      gained: (key) => {
        this.#changed(key, 'startUp');
      },
      gone: (object) => {
        this.#drop(textOf(keyOf(object)), object);
      },
      found: (object) => {
        this.#written.set(uidOf(object), stripNoise(object));
      },
      counted: (keys) => tools.metrics?.owned?.(keys),
    });
  }

  /** Follows the kind and everything that concerns it; keys are collected but nothing is reconciled yet. */
  follow(): void {
    const { controller, tools } = { controller: this.#controller, tools: this.#tools };
    const { kind, optional = false } = controller;
    const primary = tools.informers.informer({ kind, ...(optional && { optional }) });
    this.#primary = primary;
    this.#subscribe(primary, (old, now) => {
      this.#primaryChanged(old, now, primary.health().synced);
    });
    for (const watch of controller.watches) {
      const informer = tools.informers.informer(watch);
      this.#subscribe(informer, (old, now) => {
        const occasion = informer.health().synced ? 'usual' : 'startUp';
        for (const key of watch.keys(old, now)) this.#changed(textOf(key), occasion);
      });
    }
  }

  /** The informers this controller reads; known after `follow`. */
  get informers(): readonly Informer[] {
    return this.#informers;
  }

  /** Begins to reconcile. Call it when all informers are synced: an object that is not cached yet must not count as absent. */
  work(): void {
    const concurrency = this.#controller.concurrency ?? defaultConcurrency;
    this.#tools.metrics?.limit(concurrency);
    this.#queue.consume({
      concurrency,
      reconcile: (key) => this.#reconcile(key),
      failed: (key, error) => {
        this.#tools.metrics?.panicked();
        this.#tools.log.error('a reconcile crashed', { controller: this.name, object: key, error });
      },
    });
    if (this.#primary !== undefined) this.#subscriptions.push(this.#owned.follow(this.#primary));
  }

  /** Enqueues the object as if it had changed. */
  enqueue(key: Key): void {
    this.#changed(textOf(key), 'usual');
  }

  /** Accepts no more keys; running reconciles continue until they end or `abort` is called. */
  quiesce(): void {
    for (const unsubscribe of this.#subscriptions.splice(0)) unsubscribe();
    this.#queue.shutdown();
  }

  /** Aborts the signal of every running reconcile. */
  abort(reason: Error): void {
    this.#stop.abort(reason);
  }

  /** Resolves when no reconcile runs. */
  drained(): Promise<void> {
    return this.#queue.drained();
  }

  /** How much its queue and its schedule remember of keys. */
  get remembered(): number {
    return this.#queue.remembered + this.#schedule.remembered;
  }

  /** For `workqueue_unfinished_work_seconds` and `workqueue_longest_running_processor_seconds`. */
  runningSeconds(): readonly number[] {
    return this.#queue.runningSeconds();
  }

  #subscribe<T extends Resource>(
    informer: Informer<T>,
    handler: (old: T | undefined, now: T | undefined) => void,
  ): void {
    this.#informers.push(informer);
    this.#subscriptions.push(informer.subscribe(handler));
  }

  #primaryChanged(old: Resource | undefined, now: Resource | undefined, synced: boolean): void {
    const object = now ?? old;
    if (object === undefined) return;
    const key = textOf(keyOf(object));
    if (now === undefined) {
      this.#drop(key, object);
      return;
    }
    if (this.#isOwnWrite(now)) return;
    if (old !== undefined && isOwnEcho(old, now, this.#controller.finalizers)) return;
    const edited = old !== undefined && old.metadata.generation !== now.metadata.generation;
    this.#changed(key, !synced ? 'startUp' : edited ? 'edit' : 'usual');
  }

  #changed(key: string, occasion: Occasion): void {
    // Once it is this process's own, it is enqueued.
    if (!this.#owned.has(key)) return;
    this.#schedule.changed(key, occasion === 'edit' ? 'edited' : 'watched');
    this.#queue.add(key, priorityOf(this.#read(key), occasion));
  }

  /**
   * True when this state is our own last write, or one before it. Each of our writes is refused when someone else wrote
   * since we read, so a state up to ours holds nothing that the reconcile has not seen.
   */
  #isOwnWrite(now: Resource): boolean {
    const written = this.#written.get(uidOf(now));
    if (written === undefined) return false;
    const isBehind = isOlder(now.metadata.resourceVersion, written.metadata.resourceVersion);
    if (!isBehind) this.#written.delete(uidOf(now));
    const isSame = now.metadata.resourceVersion === written.metadata.resourceVersion;
    return isBehind || isSame;
  }

  /** The object is deleted, or belongs to another manager: everything about it is dropped, and it is not reconciled again. */
  #drop(key: string, object: Resource): void {
    this.#forget(key);
    this.#owned.forget(key);
    this.#tools.memory.drop(uidOf(object));
  }

  #forget(key: string): void {
    this.#queue.drop(key);
    this.#schedule.forget(key);
  }

  /** Whether this object, with the same UID, exists and is ours. */
  #isOurs(key: string, { metadata }: Resource): boolean {
    const now = this.#primary?.get(keyFrom(key));
    if (now?.metadata.uid !== metadata.uid) return false;
    return this.#controller.serves?.(now) !== false;
  }

  /** The newest state we know: the cache, or our own last write while the cache is behind it. */
  #read(key: string): Resource | undefined {
    const cached = this.#primary?.get(keyFrom(key));
    if (cached === undefined) return undefined;
    const written = this.#written.get(uidOf(cached));
    return isOlder(cached.metadata.resourceVersion, written?.metadata.resourceVersion) ? written : cached;
  }

  async #reconcile(key: string): Promise<void> {
    const object = this.#read(key);
    if (object === undefined) {
      // A watched object that concerned it changed after it had gone.
      this.#forget(key);
      return;
    }
    if (this.#controller.serves?.(object) === false) {
      this.#drop(key, object);
      return;
    }
    const release = this.#owned.begin(key);
    if (release === undefined) {
      this.#drop(key, object);
      return;
    }
    try {
      if (this.#owned.isUnread(key) && !(await this.#readAgain(key))) return;
      await this.#inTurn(key);
    } finally {
      release();
      if (!this.#owned.has(key)) this.#drop(key, object);
    }
  }

  async #inTurn(key: string): Promise<void> {
    const turn = this.#schedule.begin(key);
    if (turn === undefined) return;
    try {
      await turn.elsewhere.run(() => this.#take(key, turn));
    } finally {
      turn.end();
    }
  }

  /** Reads the object in the state in which its former owner left it. False if it is gone, or cannot be read. */
  async #readAgain(key: string): Promise<boolean> {
    try {
      return await this.#owned.read(key, this.#stop.signal);
    } catch (error) {
      if (this.#stop.signal.aborted) return false;
      const retryAfterMs = Math.round(this.#queue.addRateLimited(key));
      const fields = { controller: this.name, object: key, error, retryAfterMs };
      this.#tools.log.warn('an object that was taken over could not be read; trying again', fields);
      return false;
    }
  }

  async #take(key: string, turn: Turn): Promise<void> {
    const makesSense = !turn.asksFirst || (await this.#schedule.askAgain(key, turn));
    // The request may have taken long.
    const object = this.#read(key);
    if (object === undefined) this.#forget(key);
    if (object === undefined || !makesSense || this.#stop.signal.aborted) return;
    const fields = {
      controller: this.name,
      controllerGroup: this.#controller.kind.group,
      controllerKind: this.#controller.kind.kind,
      ...keyOf(object),
      reconcileID: randomUUID(),
    };
    try {
      await withLogFields(fields, () => this.#timed({ key, object, turn }, this.#tools.log.with(fields)));
    } finally {
      // It went meanwhile: what the reconcile has remembered since would stay for ever.
      if (!this.#isOurs(key, object)) this.#drop(key, object);
    }
  }

  async #timed(
    { key, object, turn }: { readonly key: string; readonly object: Resource; readonly turn: Turn },
    log: Logger,
  ): Promise<void> {
    const { clock, metrics } = this.#tools;
    const since = clock.monotonic();
    metrics?.began();
    let result: ReconcileResultLabel = 'error';
    try {
      const outcome = await this.#reconciler.reconcile(object, log, turn.elsewhere.signal);
      result = this.#next({ key, turn }, outcome, log);
    } finally {
      metrics?.ended(result, (clock.monotonic() - since) / 1000);
    }
  }

  /** Decides when the key is reconciled again. */
  #next(
    { key, turn }: { readonly key: string; readonly turn: Turn },
    outcome: ReconcileOutcome,
    log: Logger,
  ): ReconcileResultLabel {
    if (this.#stop.signal.aborted) {
      log.info('the reconcile was aborted: the manager is stopping');
      return 'error';
    }
    if (outcome.isCut === true) {
      log.info('the reconcile was aborted: its server is slow, and so are too many others');
      this.#schedule.cut(key, turn);
      return 'requeue';
    }
    const delay = this.#schedule.ended(key, turn, outcome);
    if (outcome.again === true) return 'requeue';
    const { error } = outcome;
    if (error === undefined) return delay === undefined ? 'success' : 'requeue_after';
    const retry = retryOf(error);
    this.#tools.metrics?.failed({ terminal: retry.is === 'never', timedOut: outcome.timedOut ?? false });
    const retryAfterMs = Math.round(delay ?? 0);
    if (retry.is === 'backoff') log.error('the reconcile failed', { error, retryAfterMs });
    else if (retry.is === 'after') log.info('the reconcile is waiting', { reason: messageOf(error), retryAfterMs });
    else log.error('the reconcile failed and is not retried until something changes', { error });
    return 'error';
  }
}

const uidOf = ({ metadata }: Resource): string => metadata.uid;
