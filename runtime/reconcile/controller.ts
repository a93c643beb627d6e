import type { Key, KindRef, PolicyRule, Resource } from '../../api/meta.ts';
import type { InformerSelection } from '../cache/informer.ts';
import type { Logger } from '../observe/logger.ts';

/** What a reconcile may use besides its inputs. */
export interface Context {
  /** Aborted at shutdown, on lost leadership and at the reconcile's deadline. */
  readonly signal: AbortSignal;
  /** The wall clock at the start of the reconcile. */
  readonly now: Date;
  readonly log: Logger;
  /**
   * Only in the first reconcile of an object, which has just added the finalizers: the version in which it was found. The API server has
   * confirmed that version, and no other process has had a first reconcile of it.
   */
  readonly firstVersion?: string | undefined;
  /** Records an Event on the reconciled object; equal ones are folded into a count. */
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;
}

/** What a server elsewhere, such as a tenant's, refused or did not answer. */
export interface WaitsElsewhere {
  /** As it was thrown by the request: that is repeated alone, and a reconcile follows once its answer is different. */
  readonly error: unknown;
  readonly afterMs: number;
}

/** The result of a reconcile: the whole desired status, and the optional delay of a requeue. */
export interface ReconcileResult<T extends Resource> {
  /** The complete desired status; the runtime sends the difference once, and nothing when there is none. Absent: leave it. */
  readonly status?: T extends { readonly status?: infer S } ? S : never;
  readonly afterMs?: number;
  /** True if it made progress in work that takes several reconciles, so that an early requeue is not a lack of progress. */
  readonly hasMore?: boolean;
  /** What is waited for besides, on a server elsewhere. */
  readonly elsewhere?: WaitsElsewhere;
  /** Retried by its class: `TerminalError`, `RetryError`, or backoff. The status is written all the same. */
  readonly error?: unknown;
  /**
   * Called with the object as the API server has it after the status was written; a definition may lack fields of it. Not called
   * when nothing had to be written.
   */
  stored?(object: T): void;
}

/** The reconcile of an object that is being deleted. With `finished`, the runtime removes the finalizers. */
export interface LastReconcile<T extends Resource> extends ReconcileResult<T> {
  readonly finished: boolean;
}

/**
 * Another kind whose changes enqueue keys of this controller. Watching starts when its API appears. Whoever reads an informer of the same
 * selection finds the change there: equal selections share one watch.
 */
export interface Watch<W extends Resource = Resource> extends InformerSelection<W> {
  /** `old` is absent for a new object, `now` for a deleted one. */
  keys(old: W | undefined, now: W | undefined): readonly Key[];
}

/**
 * One kind's controller. The runtime owns get, not-found, pause, finalizer, the one status patch, Events and retry.
 */
export interface Controller<T extends Resource = Resource> {
  /** Lower-case, for logs, metrics and the field manager. */
  readonly name: string;
  readonly kind: KindRef<T>;
  /** True when the API of the kind may be absent in the cluster: the other controllers start without it. */
  readonly optional?: boolean;
  readonly watches: readonly Watch[];
  /** Generates config/rbac; the fake cluster refuses what is not declared. */
  readonly access: readonly PolicyRule[];
  /** Set before the first `reconcile`, removed when `finalize` is finished. */
  readonly finalizers?: readonly string[];
  /** Those that a predecessor set: never set, removed together with `finalizers`. */
  readonly formerFinalizers?: readonly string[];
  /** True when one object concerns many others: their changes are not counted against its budget. */
  readonly concernsMany?: boolean;
  /** Keys reconciled at once; 8 by default. */
  readonly concurrency?: number;
  /** Milliseconds until a reconcile's signal aborts; 30 000 by default. */
  readonly timeoutMs?: number;
  /** False for objects that another manager reconciles: this one does not change them. */
  serves?(object: T): boolean;
  /** Why the object is paused, as text for people; undefined when it is not. Paused objects are not reconciled. */
  paused?(object: T): string | undefined;
  /** The status of a paused object, if it shows the pause. Nothing else is written of a paused object. */
  whilePaused?(object: T, at: { readonly why: string; readonly now: Date }): ReconcileResult<T>;
  reconcile(object: T, ctx: Context): Promise<ReconcileResult<T>>;
  finalize?(object: T, ctx: Context): Promise<LastReconcile<T>>;
}
