import { setTimeout as pause } from 'node:timers/promises';

import type { Key } from '../../api/meta.ts';
import { idOf } from '../scale/fleet/scale-fleet.ts';
import type { ChaosRow } from './chaos-rows.ts';
import { pauseUnlessOver } from '../pause-unless-over.ts';

/** What persons can do to a fleet. A request that fails is an error. */
export interface ChangeableFleet {
  /** Chooses a key; nothing is created yet. */
  nextKey(): Key;
  create(key: Key): Promise<void>;
  delete(key: Key): Promise<void>;
  /** Gives its API server another flag. */
  change(key: Key, inflight: number): Promise<void>;
}

/** A tenant as it was asked for. */
export interface WantedTenant {
  readonly key: Key;
  /** The flag that it has to have; absent while nobody has changed it. */
  readonly inflight?: number;
}

export interface PersonsOptions {
  readonly fleet: ChangeableFleet;
  /** Tenants of which persons change and delete some. */
  readonly tenants: readonly Key[];
  /** Between 0 and 1, as `Math.random`. */
  readonly random: () => number;
  /** Milliseconds between two changes. */
  readonly everyMs: number;
  /** Milliseconds until a request that failed is sent again. */
  readonly againMs: number;
}

/** Persons who create, change and delete tenants all the time, and send a request again until it is accepted. */
export class Persons {
  readonly #options: PersonsOptions;
  readonly #wanted: Map<string, WantedTenant>;
  readonly #counts = { rolled: 0, created: 0, deleted: 0, repeated: 0 };
  #inflight = 700;

  constructor(options: PersonsOptions) {
    this.#options = options;
    this.#wanted = new Map(options.tenants.map((key) => [idOf(key), { key }]));
  }

  /** All tenants of theirs that shall be there. */
  get wanted(): readonly WantedTenant[] {
    return [...this.#wanted.values()];
  }

  get counts(): ChaosRow['changes'] {
    return { ...this.#counts };
  }

  /** Goes on until this is aborted, and ends what has begun. */
  async work(until: AbortSignal): Promise<void> {
    const { everyMs } = this.#options;
    while (!until.aborted) {
      await this.#act();
      await pauseUnlessOver(everyMs, until);
    }
  }

  /** As many are created as are deleted, so that their number stays about the same. */
  async #act(): Promise<void> {
    const { random, fleet } = this.#options;
    const act = random();
    const chosen = this.wanted[Math.floor(random() * this.#wanted.size)];
    if (act < 0.2 || chosen === undefined) {
      const key = fleet.nextKey();
      await this.#again(() => fleet.create(key));
      this.#wanted.set(idOf(key), { key });
      this.#counts.created += 1;
    } else if (act < 0.4) {
      await this.#again(() => fleet.delete(chosen.key));
      this.#wanted.delete(idOf(chosen.key));
      this.#counts.deleted += 1;
    } else {
      this.#inflight += 1;
      const inflight = this.#inflight;
      await this.#again(() => fleet.change(chosen.key, inflight));
      this.#wanted.set(idOf(chosen.key), { key: chosen.key, inflight });
      this.#counts.rolled += 1;
    }
  }

  async #again(request: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await request();
        return;
      } catch {
        this.#counts.repeated += 1;
        await pause(this.#options.againMs);
      }
    }
  }
}
