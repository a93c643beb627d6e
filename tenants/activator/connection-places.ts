import { callerNetwork } from './caller-network.ts';
import { ConnectionGroups } from './connection-groups.ts';
import type { Grouped, PlaceLimits } from './connection-groups.ts';

/** One of the connections. */
export interface Place {
  /** It has shown that it is one of a client, which now waits for the tenant. */
  settle(): void;
  /** It is passed on: from now on it counts among those. */
  pass(): void;
  /** It is over. */
  leave(): void;
}

interface Taken extends Grouped {
  /** Who came before has a smaller one. */
  readonly order: number;
  readonly end: () => void;
  isSilent: boolean;
}

/**
 * Bounds the connections to each tenant, and to all. The limits hold for those that wait, or have not said what they want yet, and once more
 * for those that were passed on, so that long connections leave others their places. When there is no room, whoever has most gives way: the
 * tenant that has most connections, and in it the caller who has most. Of those that wait, this is the oldest one that says nothing; if all
 * do, the newcomer is refused if it is one of them, and the newest one ends if it is not. Of those that were passed on it is the oldest one:
 * its client connects again, and reaches a pod.
 */
export class ConnectionPlaces {
  readonly #waiting: ConnectionGroups<Taken>;
  readonly #passed: ConnectionGroups<Taken>;
  #order = 0;

  constructor(limits: PlaceLimits) {
    this.#waiting = new ConnectionGroups(limits);
    this.#passed = new ConnectionGroups(limits);
  }

  /** All that are open. */
  get size(): number {
    return this.#waiting.size + this.#passed.size;
  }

  /** Takes a place for a caller at this address; `end` is called if it is needed for another one. Undefined if there is none. */
  take(tenant: string, peer: string | undefined, end: () => void): Place | undefined {
    this.#order += 1;
    const one: Taken = { tenant, network: callerNetwork(peer), order: this.#order, end, isSilent: true };
    this.#waiting.add(one);
    const loser = givesWay(this.#waiting.crowd(one));
    if (loser !== undefined) this.#waiting.delete(loser);
    if (loser === one) return undefined;
    loser?.end();
    return {
      settle: () => {
        one.isSilent = false;
      },
      pass: () => {
        this.#pass(one);
      },
      leave: () => {
        if (!this.#waiting.delete(one)) this.#passed.delete(one);
      },
    };
  }

  #pass(one: Taken): void {
    if (!this.#waiting.delete(one)) return;
    this.#passed.add(one);
    const oldest = first(this.#passed.crowd(one));
    if (oldest === undefined) return;
    this.#passed.delete(oldest);
    oldest.end();
  }
}

/** The oldest one that says nothing, or else the newest one. A newcomer is the newest, and says nothing yet. */
function givesWay(crowd: readonly Taken[]): Taken | undefined {
  return first(crowd.filter(({ isSilent }) => isSilent)) ?? crowd.reduce<Taken | undefined>(later, undefined);
}

function first(crowd: readonly Taken[]): Taken | undefined {
  return crowd.reduce<Taken | undefined>(
    (found, one) => (found === undefined || one.order < found.order ? one : found),
    undefined,
  );
}

const later = (found: Taken | undefined, one: Taken): Taken =>
  found === undefined || one.order > found.order ? one : found;
