import { kinds, type Lease } from '../../api/core/kinds.ts';
import type { Key } from '../../api/meta.ts';
import { sleep, type Clock } from '../clock.ts';
import type { Cluster } from '../client/cluster.ts';
import { ApiError } from '../client/errors.ts';
import { microTime } from '../observe/event-recorder.ts';
import type { Logger } from '../observe/logger.ts';
import { textOf } from '../cache/object-id.ts';
import { leaseTimes } from './lease-times.ts';

export interface LeaderOptions {
  /** The unguarded client: the election itself must write before it leads. */
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  /** The common Lease of all candidates. */
  readonly lease: Required<Key>;
  /** Unique among all processes there ever are, e.g. pod name and a UUID. */
  readonly identity: string;
  /**
   * How identities of processes begin that ran in the place of this one before, and have ended, because only one runs there at a
   * time: a container of a pod, which the kubelet starts again after its end. Their Lease is taken without waiting for its end.
   */
  readonly predecessors?: string;
  /** True if several processes hold the Lease together, under one identity; each must renew it, and none releases it. False by default. */
  readonly isShared?: boolean;
  /** How long others wait after the last renewal; 15 s by default. */
  readonly durationMs?: number;
  /** How long we lead after the beginning of our last successful renewal; 10 s by default, less than `durationMs`. */
  readonly renewWithinMs?: number;
  /** Pause between tries; 2 s by default. */
  readonly retryMs?: number;
  /** In [0, 1): spreads the tries of candidates. */
  readonly random: () => number;
  /** Called once when leadership ends unwanted. The process must end within `durationMs − renewWithinMs`: work may be running that no longer may write. */
  lost(why: Error): void;
  /** For `leader_election_master_status`. */
  status?(leading: boolean): void;
}

/** A Lease as it was seen, and when: its own times are of another machine's clock. */
interface Observation {
  readonly lease: Lease;
  readonly at: number;
}

/**
 * Election by Lease. At most one candidate leads at any time, provided that clocks run at the same speed: a leader counts
 * from the beginning of its last successful renewal on its own monotonic clock, and stops `durationMs − renewWithinMs`
 * before others may begin. It checks that deadline before each write, so that a process that was suspended does not act as
 * leader afterwards; a renewal that comes too late is not attempted.
 */
export class LeaderElection {
  /** Resolves when this candidate leads for the first time. Never rejects. */
  readonly elected: Promise<void>;
  readonly #options: LeaderOptions;
  readonly #durationMs: number;
  readonly #renewWithinMs: number;
  readonly #retryMs: number;
  readonly #stop = new AbortController();
  readonly #won = Promise.withResolvers<undefined>();
  #running: Promise<void> | undefined;
  #seen: Observation | undefined;
  /** Monotonic time until which we lead; undefined when we do not. */
  #until: number | undefined;

  /** Throws when the times could let two lead at once. */
  constructor(options: LeaderOptions) {
    this.#options = options;
    const times = leaseTimes(options, { user: 'leader election', harm: 'two could lead at once' });
    this.#durationMs = times.durationMs;
    this.#renewWithinMs = times.renewWithinMs;
    this.#retryMs = times.retryMs;
    this.elected = this.#won.promise.then(() => undefined);
  }

  /** Becomes a candidate. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** True while this process may act. It reads the clock, so call it before each action. */
  get leads(): boolean {
    return this.#until !== undefined && this.#options.clock.monotonic() < this.#until;
  }

  /** Throws when this process may not act. */
  assertLeads(): void {
    if (!this.leads) throw new Error('this process is not the leader, or no longer: it must not write');
  }

  /** Stops being a candidate; a leader frees the Lease so that another takes over at once. Call it after the last write. */
  async release(): Promise<void> {
    this.#stop.abort(new Error('the candidate retires'));
    await this.#running;
    if (!this.leads || this.#seen === undefined) {
      this.#until = undefined;
      return;
    }
    const { lease } = this.#seen;
    this.#until = undefined;
    this.#options.status?.(false);
    try {
      await this.#free(lease).catch((error: unknown) => this.#freeChanged(error));
    } catch (error) {
      this.#options.log.warn('the lease could not be released; it expires on its own', { error });
    }
  }

  async #free({ metadata: { resourceVersion } }: Lease): Promise<void> {
    const { cluster, clock, lease: key } = this.#options;
    const spec = { holderIdentity: null, leaseDurationSeconds: 1, renewTime: microTime(clock.now()) };
    await cluster.patch(kinds.Lease, key, { type: 'merge', body: { metadata: { resourceVersion }, spec } });
  }

  /** The last renewal may have been written although its response never arrived: the Lease is still ours then. */
  async #freeChanged(error: unknown): Promise<void> {
    if (!(error instanceof ApiError && error.code === 409)) throw error;
    const { cluster, lease: key, identity } = this.#options;
    const now = await cluster.get(kinds.Lease, key);
    if (now?.spec?.holderIdentity === identity) await this.#free(now);
  }

  async #run(): Promise<void> {
    const { clock, log, lease } = this.#options;
    try {
      await this.#acquire();
      log.info('elected as leader', { lease: textOf(lease), identity: this.#options.identity });
      this.#options.status?.(true);
      this.#won.resolve(undefined);
      for (;;) {
        await sleep(clock, this.#retryMs, this.#stop.signal);
        await this.#renew();
      }
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#until = undefined;
      this.#options.status?.(false);
      const why = error instanceof Error ? error : new Error(String(error));
      log.error('leadership is lost', { error: why });
      this.#options.lost(why);
    }
  }

  /** Resolves when the Lease is ours. */
  async #acquire(): Promise<void> {
    const { clock, log, random } = this.#options;
    for (;;) {
      this.#stop.signal.throwIfAborted();
      const until = clock.monotonic() + this.#renewWithinMs;
      const got = await this.#within(this.#renewWithinMs, (signal) => this.#try(signal)).catch((error: unknown) => {
        if (!this.#stop.signal.aborted) log.warn('the lease could not be read; trying again', { error });
        return false;
      });
      if (got) {
        this.#until = until;
        if (this.leads) return;
      }
      await sleep(clock, this.#retryMs * (1 + 0.2 * random()), this.#stop.signal);
    }
  }

  /** Extends our time, or throws when it is over. A failed try is only logged while there is time. */
  async #renew(): Promise<void> {
    const { clock, log } = this.#options;
    const now = clock.monotonic();
    const left = (this.#until ?? 0) - now;
    if (left <= 0) throw new Error(`the lease was not renewed for ${this.#renewWithinMs / 1000} s`);
    try {
      const ours = await this.#within(left, (signal) => this.#try(signal));
      if (!ours) throw new LostToAnother(this.#seen?.lease.spec?.holderIdentity ?? 'nobody');
      this.#until = now + this.#renewWithinMs;
    } catch (error) {
      if (error instanceof LostToAnother || this.#stop.signal.aborted) throw error;
      log.warn('the lease could not be renewed; trying again', { error });
    }
    if (!this.leads) throw new Error(`the lease was not renewed for ${this.#renewWithinMs / 1000} s`);
  }

  /** Reads the Lease once and, if it is free or ours, writes it once. True if it is ours afterwards. */
  async #try(signal: AbortSignal, isSecond = false): Promise<boolean> {
    const { cluster, lease: key, identity } = this.#options;
    const held = this.#seen?.lease.spec?.holderIdentity === identity ? this.#seen.lease : undefined;
    const lease = held ?? (await cluster.get(kinds.Lease, key, { signal }));
    if (lease === undefined) return this.#create(signal);
    this.#sight(lease);
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder !== identity && !this.#isFree(lease)) return false;
    const isShared = holder === identity && this.#options.isShared === true;
    return isShared ? this.#renewShared(signal) : this.#write(lease, signal, isSecond);
  }

  /** Takes or renews the Lease in the version that was read. */
  async #write(lease: Lease, signal: AbortSignal, isSecond: boolean): Promise<boolean> {
    const { cluster, clock, lease: key, identity } = this.#options;
    try {
      const renewTime = microTime(clock.now());
      const taking =
        lease.spec?.holderIdentity === identity
          ? {}
          : { acquireTime: renewTime, leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + 1 };
      const spec = { holderIdentity: identity, leaseDurationSeconds: this.#durationMs / 1000, renewTime, ...taking };
      const body = { metadata: { resourceVersion: lease.metadata.resourceVersion }, spec };
      this.#sight(await cluster.patch(kinds.Lease, key, { type: 'merge', body }, { signal }));
      return true;
    } catch (error) {
      if (!(error instanceof ApiError && (error.code === 409 || error.code === 404)) || isSecond) throw error;
      return this.#lookAgain(signal);
    }
  }

  /** Renews the Lease whatever its version is, if the identity still holds it: others who hold it renew it at the same time. */
  async #renewShared(signal: AbortSignal): Promise<boolean> {
    const { cluster, clock, lease: key, identity } = this.#options;
    const body = [
      { op: 'test', path: '/spec/holderIdentity', value: identity },
      { op: 'add', path: '/spec/renewTime', value: microTime(clock.now()) },
    ];
    try {
      this.#sight(await cluster.patch(kinds.Lease, key, { type: 'json', body }, { signal }));
      return true;
    } catch (error) {
      if (!(error instanceof ApiError && (error.code === 422 || error.code === 404))) throw error;
      // It is another one's by now.
      const now = await cluster.get(kinds.Lease, key, { signal });
      this.#seen = undefined;
      if (now !== undefined) this.#sight(now);
      return false;
    }
  }

  #isFree(lease: Lease): boolean {
    const { clock, predecessors = '' } = this.#options;
    const holder = lease.spec?.holderIdentity ?? '';
    const hasEnded = predecessors !== '' && holder.startsWith(predecessors);
    return holder === '' || hasEnded || clock.monotonic() >= this.#expiry(lease);
  }

  async #create(signal: AbortSignal): Promise<boolean> {
    const { cluster, clock, lease: key, identity } = this.#options;
    const now = microTime(clock.now());
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: this.#durationMs / 1000,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 0,
    };
    const manifest = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key, spec };
    try {
      this.#sight(await cluster.create(kinds.Lease, manifest, { signal }));
      return true;
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 409)) throw error;
      return this.#lookAgain(signal);
    }
  }

  /** Another write came first: perhaps our own, in a request whose response was lost. Then we only missed its version. */
  async #lookAgain(signal: AbortSignal): Promise<boolean> {
    const lease = await this.#options.cluster.get(kinds.Lease, this.#options.lease, { signal });
    this.#seen = undefined;
    if (lease === undefined) return false;
    this.#sight(lease);
    return lease.spec?.holderIdentity === this.#options.identity && this.#try(signal, true);
  }

  /** Remembers when this version was first seen. */
  #sight(lease: Lease): void {
    if (this.#seen?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#seen = { lease, at: this.#options.clock.monotonic() };
  }

  #expiry(lease: Lease): number {
    const seconds = lease.spec?.leaseDurationSeconds ?? this.#durationMs / 1000;
    return (this.#seen?.at ?? this.#options.clock.monotonic()) + seconds * 1000;
  }

  /** Runs with a signal that aborts after `ms`; rejects then even when the action does not heed it. */
  async #within<T>(ms: number, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const controller = new AbortController();
    const timer = this.#options.clock.after(ms, () => {
      const why = new Error(`no answer from the API server within ${Math.round(ms)} ms`);
      controller.abort(why);
      late.reject(why);
    });
    try {
      const signal = AbortSignal.any([controller.signal, this.#stop.signal]);
      return await Promise.race([action(signal), late.promise]);
    } finally {
      timer.cancel();
    }
  }
}

class LostToAnother extends Error {
  override readonly name = 'LostToAnother';
  constructor(holder: string) {
    super(`the lease is held by ${holder} now`);
  }
}
