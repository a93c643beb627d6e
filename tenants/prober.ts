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
  /** Between two probes of a tenant that has not answered lately, in milliseconds; one that answers is probed less often. */
  readonly intervalMs: number;
  /** From 0 to 1: tenants are not probed all at once. */
  readonly random: () => number;
  /** Probes one server; never rejects. */
  readonly probe: (server: ProbedServer) => Promise<ProbeResult>;
}

interface Probed {
  target: ProbeTarget;
  readonly results: Map<ProbePath, ProbeResult>;
  /** Absent while it is due or probed. */
  timer?: Timer;
  /** When the last probe began, by the monotonic clock. */
  beganAt: number;
  /** When a probe failed last. */
  failedAt: number;
  /** Something says that it may not answer, since the last probe. */
  isDoubted: boolean;
  /** The way whose turn it is. */
  turn: ProbePath;
}

/** So many tenants are probed at once: the others wait for their turn, however many API servers do not answer. */
const mostAtOnce = 100;

/**
 * So long after a failure, a tenant is probed at each interval: an alert that looks at the share of failures in an hour gets as many
 * samples as if it had always been so.
 */
const attentiveMs = 60 * 60_000;

/** A probe has a limit of its own; one that exceeds it is given up after so many milliseconds. */
const longestMs = 10_000;

/**
 * Probes the API server of every tenant: on each way that leads to it, at intervals, from the first doubt until it has answered for an
 * hour. A tenant that answers is probed half as often, on one way after the other.
 */
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
        timer?.cancel();
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
    const never = { beganAt: -Infinity, failedAt: -Infinity, isDoubted: false };
    const probed: Probed = { target, results: new Map(), ...never, turn: probePaths[0] };
    this.#probed.set(uid, probed);
    this.#probeAfter(uid, probed, this.#options.random() * this.#options.intervalMs);
  }

  /** The tenant `uid` may not answer: it is probed on each way at once, but not before one interval has passed since its last probe. */
  doubt(uid: string): void {
    const probed = this.#probed.get(uid);
    if (probed === undefined || probed.isDoubted || this.#isAttentive(probed)) return;
    probed.isDoubted = true;
    if (probed.timer === undefined) return;
    probed.timer.cancel();
    this.#probeNext(uid, probed);
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

  #probeAfter(uid: string, probed: Probed, ms: number): void {
    probed.timer = this.#options.clock.after(ms, () => {
      probed.timer = undefined;
      this.#due.add(uid);
      this.#begin();
    });
  }

  #probeNext(uid: string, probed: Probed): void {
    const { clock, intervalMs, random } = this.#options;
    const isSoon = probed.isDoubted || this.#isAttentive(probed);
    // Of many that began together, few are probed together after a while.
    const pauseMs = isSoon ? intervalMs : intervalMs * (2 + random() / 2);
    this.#probeAfter(uid, probed, Math.max(probed.beganAt + pauseMs - clock.monotonic(), 0));
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
    probed.beganAt = this.#options.clock.monotonic();
    this.#running += 1;
    await Promise.all(this.#ways(probed).map((path) => this.#ask(probed, path)));
    this.#running -= 1;
    if (this.#probed.get(uid) === probed) this.#probeNext(uid, probed);
    this.#begin();
  }

  /** The ways on which a tenant is probed now. */
  #ways(probed: Probed): readonly ProbePath[] {
    const { isDoubted, turn } = probed;
    probed.isDoubted = false;
    if (isDoubted || this.#isAttentive(probed)) return probePaths;
    probed.turn = turn === 'service' ? 'endpoint' : 'service';
    return [turn];
  }

  /** True until every way is known to have led to an API server that was ready, for as long as that counts. */
  #isAttentive({ results, failedAt }: Probed): boolean {
    return results.size < probePaths.length || this.#options.clock.monotonic() - failedAt < attentiveMs;
  }

  async #ask(probed: Probed, path: ProbePath): Promise<void> {
    const result = await this.#result(probed.target[path]);
    probed.results.set(path, result);
    if (!result.isUp) probed.failedAt = this.#options.clock.monotonic();
  }

  /** The result of a probe. This ends even if the probe does not. */
  #result(server: ProbedServer): Promise<ProbeResult> {
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
