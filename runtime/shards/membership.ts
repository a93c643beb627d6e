import { kinds, type Lease } from '../../api/core/kinds.ts';
import { sleep, type Clock } from '../clock.ts';
import { ApiError } from '../client/errors.ts';
import type { Cluster } from '../client/cluster.ts';
import { deadline } from '../deadline.ts';
import { microTime } from '../observe/event-recorder.ts';
import type { Logger } from '../observe/logger.ts';
import { claimText, noClaim, readClaim } from './claim.ts';
import type { Claim, UnknownClaim } from './claim.ts';
import type { KeyShare } from './key-share.ts';
import { ShareState } from './share-state.ts';
import { leaseTimes } from '../leader/lease-times.ts';

export interface MembershipOptions {
  /** The unguarded client: a member must write before it may work. */
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where the Leases of all members are. */
  readonly namespace: string;
  /** Name of the own Lease; unique among all processes there ever are. */
  readonly name: string;
  /** The own process, for people, and for `predecessors` of a later one. */
  readonly identity: string;
  /** How identities of processes begin that ran in the place of this one before, and have ended. Their Leases are deleted at once. */
  readonly predecessors?: string;
  /** On the Leases of members. */
  readonly label: string;
  /** With what a member claims. */
  readonly annotation: string;
  /** How long others wait after the last renewal; 15 s by default. */
  readonly durationMs?: number;
  /** How long this process may write after the beginning of its last successful renewal; 10 s by default, less than `durationMs`. */
  readonly renewWithinMs?: number;
  /** Pause between two renewals; 2 s by default. */
  readonly retryMs?: number;
  /** In [0, 1): spreads the renewals of members. */
  readonly random: () => number;
  /**
   * Called once when this process is no longer a member, unwanted. It must have ended after `leftMs`; 0: at once, because others may have
   * begun to work on its keys.
   */
  lost(why: Error, leftMs: number): void;
  /** For metrics. */
  readonly counted?: (members: number) => void;
}

/** A version of another's Lease, and when it was first seen, or first missed: its own times are of another machine's clock. */
interface Sighting {
  readonly version: string;
  readonly at: number;
  readonly durationMs: number;
  readonly claim: Claim | UnknownClaim;
  readonly isHeld: boolean;
  /** True when it is missing, although it had a holder. */
  readonly isGone: boolean;
}

/**
 * One of several processes that share keys. Each has a Lease of its own; those that exist and have a holder are the members. The holder is taken from
 * a Lease that was not renewed in time by whoever notices first, on condition that it still is the version that was not renewed: so it is either
 * renewed or taken. A member without its Lease, or who could not renew it, never comes back; its process ends before others may take its keys. Who
 * ends in order gives up its Lease. One without a holder is deleted later, when all have seen it. One that vanishes with its holder was
 * deleted by a person, and perhaps renewed right before: it is waited for once more.
 */
export class Membership implements KeyShare {
  readonly #options: MembershipOptions;
  readonly #durationMs: number;
  readonly #renewWithinMs: number;
  readonly #retryMs: number;
  readonly #state: ShareState;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #sightings = new Map<string, Sighting>();
  #wake = new AbortController();
  #running: Promise<void> | undefined;
  #members: readonly string[] = [];
  /** The round of which the listeners know. */
  #told = 0;
  /** The own Lease as it was last seen. */
  #own: Lease | undefined;
  /** Monotonic time until which this process may write. */
  #until: number | undefined;

  /** Throws when the times could let two work on the same key. */
  constructor(options: MembershipOptions) {
    this.#options = options;
    const times = leaseTimes(options, { user: 'a member', harm: 'two could work on the same object' });
    this.#durationMs = times.durationMs;
    this.#renewWithinMs = times.renewWithinMs;
    this.#retryMs = times.retryMs;
    this.#state = new ShareState(options.name);
  }

  /** Joins. Until others have released keys, few or none are its own. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** True while this process may write. It reads the clock, so call it before each write. */
  get isFresh(): boolean {
    return this.#until !== undefined && this.#options.clock.monotonic() < this.#until;
  }

  /** Throws when this process may not write. */
  assertFresh(): void {
    if (!this.isFresh) throw new Error('this process does not hold its lease, or no longer: it must not write');
  }

  /** The names of all members, in order. */
  get members(): readonly string[] {
    return this.#members;
  }

  get name(): string {
    return this.#options.name;
  }

  /** Whether it may still write. One that is not known yet may have joined since the last look: the API server is asked. */
  async isMember(name: string, signal: AbortSignal): Promise<boolean> {
    if (this.#members.includes(name)) return true;
    const { cluster, namespace } = this.#options;
    const lease = await cluster.get(kinds.Lease, { namespace, name }, { signal });
    return lease !== undefined && holderOf(lease) !== '';
  }

  owns(key: string): boolean {
    return this.isFresh && this.#state.owns(key);
  }

  begin(key: string): (() => void) | undefined {
    const end = this.isFresh ? this.#state.begin(key) : undefined;
    if (end === undefined) return undefined;
    return () => {
      end();
      if (this.#state.holdsTooMuch) this.#wake.abort(new Error('a key was released'));
    };
  }

  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed);
    return () => {
      this.#listeners.delete(changed);
    };
  }

  /** Leaves, so that others take over at once. Call it after the last write. */
  async release(): Promise<void> {
    this.#stop.abort(new Error('the member retires'));
    await this.#running;
    if (!this.isFresh) return;
    this.#until = undefined;
    try {
      await this.#giveUp(this.#options.name);
    } catch (error) {
      this.#options.log.warn('the lease could not be given up; it expires on its own', { error });
    }
  }

  /** From now on the Lease has no holder, who claims nothing; in this version, if one is given. */
  async #giveUp(
    name: string,
    { resourceVersion, signal }: { readonly resourceVersion?: string; readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    const { cluster, namespace, annotation } = this.#options;
    const version = resourceVersion === undefined ? {} : { resourceVersion };
    const body = {
      metadata: { annotations: { [annotation]: claimText(noClaim) }, ...version },
      spec: { holderIdentity: null },
    };
    await cluster.patch(kinds.Lease, { namespace, name }, { type: 'merge', body }, { signal });
  }

  async #run(): Promise<void> {
    const { clock, log, random, namespace, name } = this.#options;
    try {
      await this.#join();
      log.info('joined those who share the objects', { lease: `${namespace}/${name}` });
      for (;;) {
        this.#wake = new AbortController();
        await this.#attempt();
        const now = clock.monotonic();
        const expiryMs = Math.max(this.#untilExpiry(now), this.#retryMs / 20);
        // The end of the own time is noticed when it comes, and not a pause later.
        const pause = Math.min(this.#retryMs * (1 + 0.2 * random()), expiryMs, Math.max((this.#until ?? 0) - now, 0));
        const signal = AbortSignal.any([this.#stop.signal, this.#wake.signal]);
        await sleep(clock, pause, signal).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
        this.#stop.signal.throwIfAborted();
      }
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const leftMs = error instanceof LeaseGone ? 0 : (this.#until ?? 0) + this.#marginMs - clock.monotonic();
      this.#until = undefined;
      const why = error instanceof Error ? error : new Error(String(error));
      log.error('this process is no longer among those who share the objects', { error: why });
      this.#options.lost(why, Math.max(leftMs, 0));
    }
  }

  /** Creates the own Lease; with it, no key is claimed yet. */
  async #join(): Promise<void> {
    const { cluster, clock, log, namespace, name, identity, label, annotation } = this.#options;
    for (;;) {
      this.#stop.signal.throwIfAborted();
      const began = clock.monotonic();
      const now = microTime(clock.now());
      const spec = { holderIdentity: identity, leaseDurationSeconds: this.#durationMs / 1000 };
      const metadata = {
        namespace,
        name,
        labels: { [label]: 'true' },
        annotations: { [annotation]: claimText(noClaim) },
      };
      const manifest = {
        ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata },
        spec: { ...spec, acquireTime: now, renewTime: now },
      };
      try {
        // The name is nobody else's: a Lease that exists is the one of an attempt whose response was lost.
        this.#own = await this.#within(this.#renewWithinMs, (signal) =>
          cluster.create(kinds.Lease, manifest, { signal }).catch((error: unknown) => {
            if (error instanceof ApiError && error.code === 409) return cluster.get(kinds.Lease, metadata, { signal });
            throw error;
          }),
        );
      } catch (error) {
        if (!this.#stop.signal.aborted) log.warn('the lease could not be created; trying again', { error });
      }
      if (this.#own !== undefined) {
        this.#until = began + this.#renewWithinMs;
        return;
      }
      await sleep(clock, this.#retryMs, this.#stop.signal);
    }
  }

  /** One round while there is time; a failed one is only logged. Throws when the time is over or the Lease is gone. */
  async #attempt(): Promise<void> {
    const { clock, log } = this.#options;
    const left = (this.#until ?? 0) - clock.monotonic();
    if (left <= 0) throw this.#expired();
    try {
      // One connection that hangs must not cost all of the time.
      await this.#within(Math.min(left, this.#renewWithinMs / 2), (signal) => this.#round(signal));
    } catch (error) {
      if (error instanceof LeaseGone || this.#stop.signal.aborted) throw error;
      log.warn('the lease could not be renewed; trying again', { error });
    } finally {
      this.#notify();
    }
    if (!this.isFresh) throw this.#expired();
  }

  /** Renews the own Lease, and looks at those of others. If another claim follows, it does both once more. */
  async #round(signal: AbortSignal): Promise<void> {
    const claim = this.#state.nextClaim();
    await this.#publish(claim, signal);
    await this.#look(signal);
    const next = this.#state.nextClaim();
    if (claimText(next) === claimText(claim)) return;
    await this.#publish(next, signal);
    await this.#look(signal);
  }

  /** After every round, also one that failed in its middle: what it gave up has to be noticed before it comes back. */
  #notify(): void {
    if (this.#state.round === this.#told) return;
    this.#told = this.#state.round;
    for (const changed of this.#listeners) changed();
  }

  async #publish(claim: Claim, signal: AbortSignal): Promise<void> {
    try {
      await this.#write(claim, signal);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 409) || signal.aborted) throw error;
      // An earlier renewal has arrived whose response did not.
      await this.#look(signal);
      await this.#write(claim, signal);
    }
  }

  async #write(claim: Claim, signal: AbortSignal): Promise<void> {
    const { cluster, clock, namespace, name, annotation } = this.#options;
    const began = clock.monotonic();
    const { resourceVersion } = this.#own?.metadata ?? {};
    const metadata = { resourceVersion, annotations: { [annotation]: claimText(claim) } };
    const body = { metadata, spec: { renewTime: microTime(clock.now()) } };
    this.#state.sending(claim);
    try {
      // Because it names the version, an earlier renewal that is still under way cannot arrive after this one.
      const own = await cluster.patch(kinds.Lease, { namespace, name }, { type: 'merge', body }, { signal });
      // An answer that comes after the end of the round is not used: the next round may have begun.
      signal.throwIfAborted();
      // A process that was not allowed to write for a moment has refused work, which nobody would do.
      if (!this.isFresh) throw this.#expired();
      this.#own = own;
    } catch (error) {
      if (error instanceof ApiError && error.code === 404 && !signal.aborted) throw new LeaseGone();
      throw error;
    }
    this.#state.stands(claim);
    this.#until = began + this.#renewWithinMs;
  }

  /** Reads all Leases, ends those of others that have expired, and learns who claims what. */
  async #look(signal: AbortSignal): Promise<void> {
    const { cluster, clock, namespace, name, identity, label, annotation, counted } = this.#options;
    const began = clock.monotonic();
    const { items } = await cluster.list(kinds.Lease, { namespace, labelSelector: `${label}=true`, signal });
    signal.throwIfAborted();
    const own = items.find(({ metadata }) => metadata.name === name);
    if (own === undefined || holderOf(own) !== identity) throw new LeaseGone();
    this.#own = own;
    const others = new Map<string, Claim | UnknownClaim>();
    for (const lease of items) {
      if (lease === own || (await this.#ends(lease, began, signal))) continue;
      others.set(lease.metadata.name, readClaim(lease.metadata.annotations?.[annotation]));
    }
    signal.throwIfAborted();
    for (const [gone, claim] of this.#missing(items, began)) others.set(gone, claim);
    const members = [name, ...others.keys()].sort();
    if (members.join() !== this.#members.join()) this.#tell(members);
    this.#members = members;
    counted?.(members.length);
    this.#state.saw(others);
    this.#state.aim(members);
  }

  /**
   * Claims of members whose Leases are missing: their processes may not know yet, and may have renewed them since they were seen. They remain
   * members until they must have ended.
   */
  #missing(present: readonly Lease[], began: number): ReadonlyMap<string, Claim | UnknownClaim> {
    const missing = new Map(this.#sightings);
    for (const { metadata } of present) missing.delete(metadata.name);
    for (const [name, sighting] of missing) {
      const { isHeld, isGone, at, durationMs } = sighting;
      if (isHeld && !isGone)
        this.#sightings.set(name, { ...sighting, at: this.#options.clock.monotonic(), isGone: true });
      else if (!isHeld || began - at >= durationMs) {
        this.#sightings.delete(name);
        missing.delete(name);
      }
    }
    return new Map([...missing].map(([name, { claim }]) => [name, claim]));
  }

  #tell(members: readonly string[]): void {
    const joined = members.filter((one) => !this.#members.includes(one));
    const left = this.#members.filter((one) => !members.includes(one));
    this.#options.log.info('the members have changed', { members: members.length, joined, left });
  }

  /** True if the Lease is that of a process which has ended. If it has expired, its holder is taken from it, or it is deleted. */
  async #ends(lease: Lease, began: number, signal: AbortSignal): Promise<boolean> {
    const { cluster, log, predecessors = '' } = this.#options;
    const { name, namespace, uid, resourceVersion } = lease.metadata;
    const holder = holderOf(lease);
    const { isNew, at, durationMs } = this.#sight(lease);
    const isExpired = !isNew && began - at >= durationMs;
    const hasEnded = predecessors !== '' && holder.startsWith(predecessors);
    if (!hasEnded && !isExpired) return holder === '';
    try {
      if (holder !== '') await this.#giveUp(name, { resourceVersion, signal });
      else await cluster.delete(kinds.Lease, { namespace, name }, { uid, resourceVersion, signal });
    } catch (error) {
      // It was renewed meanwhile, or somebody else was faster: the next look tells.
      if (error instanceof ApiError && (error.code === 409 || error.code === 404)) return holder === '';
      throw error;
    }
    this.#sightings.delete(name);
    if (holder !== '') log.warn('the holder of a lease has ended: its objects are taken over', { lease: name, holder });
    return true;
  }

  /** Remembers when this version was first seen. */
  #sight(lease: Lease): Sighting & { readonly isNew: boolean } {
    const { name, resourceVersion: version, annotations } = lease.metadata;
    const known = this.#sightings.get(name);
    if (known?.version === version) return { ...known, isNew: false };
    const seconds = lease.spec?.leaseDurationSeconds;
    const durationMs = seconds === undefined ? this.#durationMs : seconds * 1000;
    const claim = readClaim(annotations?.[this.#options.annotation]);
    const isHeld = holderOf(lease) !== '';
    if (isHeld && claim === 'everything' && known?.claim !== 'everything') {
      const why =
        'the claim of a lease cannot be read, so nothing is begun until its holder has ended: is it of another release?';
      this.#options.log.warn(why, { lease: name, holder: holderOf(lease) });
    }
    const sighting = { version, at: this.#options.clock.monotonic(), durationMs, claim, isHeld, isGone: false };
    this.#sightings.set(name, sighting);
    return { ...sighting, isNew: true };
  }

  /** How long others wait after this process must not write anymore. */
  get #marginMs(): number {
    return this.#durationMs - this.#renewWithinMs;
  }

  /** Until the Lease of another one may have expired, if it is not renewed. */
  #untilExpiry(now: number): number {
    const first = Math.min(...[...this.#sightings.values()].map(({ at, durationMs }) => at + durationMs));
    return Math.max(first - now, 0);
  }

  #expired(): Error {
    return new Error(`the lease was not renewed for ${this.#renewWithinMs / 1000} s`);
  }

  /** Runs with a signal that aborts after `ms`; rejects then even when the action does not heed it. */
  async #within<T>(ms: number, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = deadline(this.#options.clock, ms, [this.#stop.signal]);
    const late = new Promise<never>((_, reject) => {
      limit.signal.addEventListener('abort', () => {
        reject(limit.signal.reason as Error);
      });
    });
    try {
      return await Promise.race([action(limit.signal), late]);
    } finally {
      limit.release();
    }
  }
}

const holderOf = ({ spec }: Lease): string => spec?.holderIdentity ?? '';

class LeaseGone extends Error {
  override readonly name = 'LeaseGone';
  constructor() {
    super('the lease of this process is gone: others have taken over its objects');
  }
}
