import { createHash } from 'node:crypto';
import type { Clock, Timer } from '../../runtime/clock.ts';
import { detached } from '../../runtime/detached.ts';
import type { Logger } from '../../runtime/observe/logger.ts';
import type { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../runtime/cache/object-slot.ts';
import { messageOf } from '../../runtime/reconcile/conditions.ts';
import { readUseCounters } from './use-counters.ts';
import type { UseCounters } from './use-counters.ts';
import { useStep } from './use-record.ts';
import type { UseRecord } from './use-record.ts';

/** One process of kube-apiserver: its counters begin with 0 when it starts. */
export interface UsedServer {
  /** Identifies the process, not only its pod. */
  readonly id: string;
  readonly host: string;
}

/** A tenant whose use is read. */
export interface UseTarget {
  /** Without use for so long, it is reconciled; in milliseconds. */
  readonly afterIdleMs: number;
  /** Changes when there may be other processes. */
  readonly version: string;
  /** The processes that run now. Asks the management cluster, so it is called only when they may have changed. */
  readonly servers: (signal: AbortSignal) => Promise<readonly UsedServer[]>;
  /** The lines of `/metrics`; `server` is absent for the only one. */
  readonly lines: (server: UsedServer | undefined, signal: AbortSignal) => AsyncIterable<string>;
  /** What an earlier manager has recorded while the tenant was idle. */
  readonly recorded: { readonly since: Date; readonly counters: string } | undefined;
  /** Has it reconciled: its use has another state, or it may fall asleep. */
  readonly changed: () => void;
}

/** Whether a tenant is used. */
export interface FoundUse {
  readonly state: 'InUse' | 'Idle' | 'Unknown';
  /** When the state began; of Idle, the last use. */
  readonly since: Date;
  /** Identifies the processes and their counters, while it is idle. */
  readonly counters?: string;
  /** Why it is unknown. */
  readonly message?: string;
  /** From the last use to the last reading, while it is idle; 0 otherwise. In milliseconds. */
  readonly unusedMs: number;
  /** True if that reading was a moment ago, and of all processes that ran then. */
  readonly isProven: boolean;
}

/** How use is read. */
export interface UseMeterOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** A deleted tenant is no longer read. */
  readonly memory: ObjectMemory;
  /** From 0 to 1: tenants are not read all at once. */
  readonly random: () => number;
}

type Told = Pick<FoundUse, 'state' | 'since' | 'message'>;

interface Metered {
  target: UseTarget;
  timer: Timer;
  servers: readonly UsedServer[];
  /** That of the target when the servers were listed. */
  version: string | undefined;
  records: ReadonlyMap<string, UseRecord>;
  /** The last use by both clocks; undefined before the first reading. */
  lastUse: { readonly at: number; readonly time: Date } | undefined;
  /** The last reading, by the monotonic clock, and whether its servers had just been listed. */
  reading: { readonly at: number; readonly isListed: boolean } | undefined;
  failures: number;
  told: Told | undefined;
}

/** Between two requests to the API servers of a tenant, in milliseconds: with several pods, all are read after so many of these. */
const intervalMs = 60_000;

/** A tenant is idle after this time without use, in milliseconds, or after half of the time after which it falls asleep. */
const idleMs = 5 * 60_000;

/** Nothing is proven by a reading that was longer ago, in milliseconds. */
const freshMs = 30_000;

/** A reading that takes longer has failed, in milliseconds. */
const longestMs = 10_000;

/** Whoever may create pods in the namespace could give them the labels of the control plane. */
const mostServers = 50;

/** After so many failed readings in a row, use is unknown. */
const mostFailures = 3;

/** Reads at intervals from the API servers of each tenant that is to sleep when nobody uses it whether it is used. */
export class UseMeter {
  readonly #options: UseMeterOptions;
  readonly #metered: ObjectSlot<Metered>;

  constructor(options: UseMeterOptions) {
    this.#options = options;
    this.#metered = options.memory.slot('use of tenants', {
      dispose: ({ timer }) => {
        timer.cancel();
      },
    });
  }

  /** Tenants whose use is read. */
  get size(): number {
    return this.#metered.size;
  }

  /** Reads the use of the tenant `uid` from now on, for the first time within a minute. */
  watch(uid: string, target: UseTarget): void {
    const known = this.#metered.get(uid);
    if (known !== undefined) {
      known.target = target;
      return;
    }
    this.#metered.set(uid, {
      ...{ target, servers: [], version: undefined, records: new Map<string, UseRecord>() },
      ...{ lastUse: undefined, reading: undefined, failures: 0, told: undefined },
      timer: this.#after(uid, this.#options.random() * intervalMs),
    });
  }

  /** Forgets the tenant `uid`. */
  stop(uid: string): void {
    this.#metered.delete(uid);
  }

  /** Ends all readings. */
  close(): void {
    this.#metered.clear();
  }

  /** What is known of the tenant `uid`; undefined before the first reading. */
  finding(uid: string): FoundUse | undefined {
    const metered = this.#metered.get(uid);
    if (metered?.told === undefined) return undefined;
    const { told, lastUse, reading, servers, records } = metered;
    if (told.state !== 'Idle' || lastUse === undefined || reading === undefined)
      return { ...told, unusedMs: 0, isProven: false };
    return {
      ...told,
      counters: fingerprint(servers, records),
      unusedMs: reading.at - lastUse.at,
      isProven: reading.isListed && this.#options.clock.monotonic() - reading.at <= freshMs,
    };
  }

  #after(uid: string, ms: number): Timer {
    const { clock, log } = this.#options;
    return clock.after(ms, () => {
      const metered = this.#metered.get(uid);
      if (metered !== undefined) detached(this.#run(uid, metered), log, 'reading the use of a tenant');
    });
  }

  async #run(uid: string, metered: Metered): Promise<void> {
    const { clock } = this.#options;
    const ends = new AbortController();
    const limit = clock.after(longestMs, () => {
      ends.abort(new Error(`it took more than ${longestMs / 1000} seconds`));
    });
    let failure: string | undefined;
    try {
      await this.#read(metered, ends.signal);
      metered.failures = 0;
    } catch (error) {
      metered.failures += 1;
      metered.reading = undefined;
      failure = messageOf(error);
    } finally {
      limit.cancel();
      // After a failure, the other pods may still be read.
      ends.abort();
    }
    if (this.#metered.get(uid) !== metered) return;
    metered.timer = this.#after(uid, this.#untilNext(metered));
    this.#tell(metered, failure);
  }

  async #read(metered: Metered, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { target, lastUse, records: before } = metered;
    const isDue = lastUse !== undefined && clock.monotonic() - lastUse.at >= target.afterIdleMs;
    const isListed = isDue || metered.version !== target.version || metered.failures > 0;
    const servers = isListed ? await target.servers(signal) : metered.servers;
    if (servers.length === 0) throw new Error('no pod of the control plane is ready');
    if (servers.length > mostServers)
      throw new Error(`more than ${mostServers} pods have the labels of the control plane`);
    const found = await Promise.all(
      servers.map(async (server): Promise<readonly [string, UseCounters]> => {
        const lines = target.lines(servers.length === 1 ? undefined : server, signal);
        return [server.id, await readUseCounters(lines)];
      }),
    );
    const now = clock.monotonic();
    const steps = found.map(([id, counters]) => [id, useStep(before.get(id), counters, now)] as const);
    metered.records = new Map(steps.map(([id, { record }]) => [id, record]));
    metered.servers = servers;
    metered.version = target.version;
    metered.reading = { at: now, isListed };
    // Nobody knows what was requested of one that is gone, after its last reading.
    const isUsed = steps.some(([, step]) => step.isUsed) || [...before.keys()].some((id) => !metered.records.has(id));
    if (lastUse === undefined) metered.lastUse = this.#resumed(metered) ?? { at: now, time: clock.now() };
    else if (isUsed) metered.lastUse = { at: now, time: clock.now() };
  }

  /** The last use that an earlier manager has recorded, if nothing has counted since. */
  #resumed({ target: { recorded }, servers, records }: Metered): Metered['lastUse'] {
    if (recorded?.counters !== fingerprint(servers, records)) return undefined;
    if ([...records.values()].some(({ counters }) => counters.streams > 0)) return undefined;
    const { clock } = this.#options;
    const agoMs = clock.now().getTime() - recorded.since.getTime();
    return agoMs < 0 ? undefined : { at: clock.monotonic() - agoMs, time: recorded.since };
  }

  #untilNext({ lastUse, servers, target, failures }: Metered): number {
    const usual = intervalMs * Math.max(servers.length, 1);
    if (lastUse === undefined || failures > 0) return intervalMs;
    const dueMs = lastUse.at + target.afterIdleMs - this.#options.clock.monotonic();
    return dueMs > 0 ? Math.min(Math.max(dueMs, intervalMs), usual) : usual;
  }

  /** Has the tenant reconciled if there is something to decide or to record. */
  #tell(metered: Metered, failure: string | undefined): void {
    const { lastUse, told: before, target, failures } = metered;
    const { clock } = this.#options;
    const say = (next: Told): void => {
      if (next.state === before?.state) return;
      metered.told = next;
      target.changed();
    };
    if (failures > 0 || lastUse === undefined) {
      if (failures >= mostFailures) say({ state: 'Unknown', since: clock.now(), message: failure ?? '' });
      return;
    }
    const unusedMs = clock.monotonic() - lastUse.at;
    if (unusedMs < Math.min(idleMs, target.afterIdleMs / 2)) {
      if (before?.state !== 'InUse') say({ state: 'InUse', since: lastUse.time });
      return;
    }
    if (before?.state !== 'Idle') say({ state: 'Idle', since: lastUse.time });
    else if (unusedMs >= target.afterIdleMs) target.changed();
  }
}

/** Two are equal only if the same processes have counted the same use. */
function fingerprint(servers: readonly UsedServer[], records: ReadonlyMap<string, UseRecord>): string {
  const counted = servers.map(({ id }) => {
    const { requests, connects } = records.get(id)?.counters ?? { requests: new Map<string, number>(), connects: 0 };
    return [id, connects, ...[...requests].map(([flow, count]) => `${flow}=${count}`).sort()];
  });
  return createHash('sha256').update(JSON.stringify(counted.sort())).digest('hex').slice(0, 16);
}
