import type { Clock, Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/observe/logger.ts';

export interface WakeRequestsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Requests that a tenant wakes up, for a caller at an address and maybe others. */
  readonly send: (tenant: string, caller: string) => Promise<void>;
}

interface Wanted {
  /** The address of the first one. */
  readonly caller: string;
  callers: number;
  timer: Timer | undefined;
}

/** While somebody waits, the request is repeated: a manager that begins later ignores old ones. In milliseconds. */
export const repeatMs = 5_000;

/** So many requests are sent at once; others wait. */
const mostAtOnce = 8;

/** Requests that tenants wake up: one for all callers of a tenant, and none more often than every few seconds. */
export class WakeRequests {
  readonly #options: WakeRequestsOptions;
  readonly #wanted = new Map<string, Wanted>();
  /** In the order in which they are sent, with the addresses of first callers. */
  readonly #queue = new Map<string, string>();
  #sending = 0;

  constructor(options: WakeRequestsOptions) {
    this.#options = options;
  }

  /** Tenants that somebody waits for, or did a moment ago. */
  get size(): number {
    return this.#wanted.size;
  }

  /** A caller at this address waits for a tenant. Returns what ends that. */
  want(tenant: string, caller = ''): () => void {
    const known = this.#wanted.get(tenant);
    const wanted = known ?? { caller, callers: 0, timer: undefined };
    wanted.callers += 1;
    if (known === undefined) {
      this.#wanted.set(tenant, wanted);
      this.#enqueue(tenant, wanted);
      this.#arm(tenant, wanted);
    }
    let isWaiting = true;
    return () => {
      if (isWaiting) wanted.callers -= 1;
      isWaiting = false;
    };
  }

  /** Forgets everything. */
  close(): void {
    for (const { timer } of this.#wanted.values()) timer?.cancel();
    this.#wanted.clear();
    this.#queue.clear();
  }

  #arm(tenant: string, wanted: Wanted): void {
    wanted.timer = this.#options.clock.after(repeatMs, () => {
      if (wanted.callers === 0) {
        this.#wanted.delete(tenant);
        return;
      }
      this.#enqueue(tenant, wanted);
      this.#arm(tenant, wanted);
    });
  }

  #enqueue(tenant: string, { caller }: Wanted): void {
    this.#queue.set(tenant, caller);
    this.#sendNext();
  }

  #sendNext(): void {
    const [next] = this.#queue;
    if (next === undefined || this.#sending >= mostAtOnce) return;
    const [tenant, caller] = next;
    this.#queue.delete(tenant);
    this.#sending += 1;
    this.#options
      .send(tenant, caller)
      .catch((error: unknown) => {
        this.#options.log.warn('a tenant could not be requested to wake up', { tenant, error });
      })
      .finally(() => {
        this.#sending -= 1;
        this.#sendNext();
      });
  }
}
