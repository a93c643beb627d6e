import type { Clock, Timer } from '../runtime/clock.ts';
import { detached } from '../runtime/detached.ts';
import type { Logger } from '../runtime/observe/logger.ts';
import type { ObjectMemory } from '../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../runtime/cache/object-slot.ts';
import type { ProbedServer, ProbeResult } from './probe.ts';

/** The ways to an API server: `service` as pods of the management cluster take it, `endpoint` as workers and users do. */
export const probePaths = ['service', 'endpoint'] as const;
export type ProbePath = (typeof probePaths)[number];

/** Where a tenant is probed. */
export type ProbeTarget = Readonly<Record<ProbePath, ProbedServer>>;

/** How tenants are probed. */
export interface TenantProberOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** A deleted tenant is no longer probed. */
  readonly memory: ObjectMemory;
  /** Between two probes of a tenant, in milliseconds. */
  readonly intervalMs: number;
  /** From 0 to 1: tenants are not probed all at once. */
  readonly random: () => number;
  /** Probes one server; never rejects. */
  readonly probe: (server: ProbedServer) => Promise<ProbeResult>;
}

interface Probed {
  target: ProbeTarget;
  readonly results: Map<ProbePath, ProbeResult>;
  timer: Timer;
}

/** So many tenants are probed at once: the others wait for their turn, however many API servers do not answer. */
const mostAtOnce = 100;

/** A probe has a limit of its own; one that exceeds it is given up after so many milliseconds. */
const longestMs = 10_000;

/** Probes the API server of every tenant at intervals, on each way that leads to it. */
export class TenantProber {
  readonly #options: TenantProberOptions;
  readonly #probed: ObjectSlot<Probed>;
  /** Tenants that are due, those first that have waited longest. */
  readonly #due = new Set<string>();
  #running = 0;

  constructor(options: TenantProberOptions) {
    this.#options = options;
    this.#probed = options.memory.slot('probes of tenants', {
      dispose: ({ timer }, uid) => {
        timer.cancel();
        this.#due.delete(uid);
      },
    });
  }

  /** Probes the tenant `uid` from now on. The first probe is made within one interval. */
  watch(uid: string, target: ProbeTarget): void {
    const known = this.#probed.get(uid);
    if (known !== undefined) {
      known.target = target;
      return;
    }
    const timer = this.#after(uid, this.#options.random() * this.#options.intervalMs);
    this.#probed.set(uid, { target, results: new Map(), timer });
  }

  /** Forgets the tenant `uid`. */
  stop(uid: string): void {
    this.#probed.delete(uid);
  }

  /** The last result on each way; none before the first probe. */
  results(uid: string): ReadonlyMap<ProbePath, ProbeResult> {
    return this.#probed.get(uid)?.results ?? new Map<ProbePath, ProbeResult>();
  }

  /** Ends all probes. */
  close(): void {
    this.#probed.clear();
  }

  #after(uid: string, ms: number): Timer {
    return this.#options.clock.after(ms, () => {
      this.#due.add(uid);
      this.#begin();
    });
  }

  #begin(): void {
    for (const uid of this.#due) {
      if (this.#running >= mostAtOnce) return;
      this.#due.delete(uid);
      const probed = this.#probed.get(uid);
      if (probed !== undefined) detached(this.#run(uid, probed), this.#options.log, 'probing a tenant');
    }
  }

  async #run(uid: string, probed: Probed): Promise<void> {
    const { clock, intervalMs } = this.#options;
    const began = clock.monotonic();
    this.#running += 1;
    const { target, results } = probed;
    await Promise.all(
      probePaths.map(async (path) => {
        results.set(path, await this.#ask(target[path]));
      }),
    );
    this.#running -= 1;
    if (this.#probed.get(uid) === probed)
      probed.timer = this.#after(uid, Math.max(began + intervalMs - clock.monotonic(), 0));
    this.#begin();
  }

  /** The result of a probe. This ends even if the probe does not. */
  #ask(server: ProbedServer): Promise<ProbeResult> {
    const { clock, probe } = this.#options;
    const { promise, resolve } = Promise.withResolvers<ProbeResult>();
    const givesUp = { isUp: false, seconds: longestMs / 1000 };
    const timer = clock.after(longestMs, () => {
      resolve(givesUp);
    });
    probe(server).then(resolve, () => {
      resolve(givesUp);
    });
    return promise.finally(() => {
      timer.cancel();
    });
  }
}
