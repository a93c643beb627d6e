import { sleep } from '../../runtime/clock.ts';
import type { Clock } from '../../runtime/clock.ts';
import { detached } from '../../runtime/detached.ts';
import type { Logger } from '../../runtime/observe/logger.ts';
import type { PodAddress, ReadyPods } from './ready-pods.ts';

export interface StartingPodsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Who waits. */
  readonly pods: Pick<ReadyPods, 'tell'>;
  /** True if the API server of a pod is ready. */
  readonly answers: (address: PodAddress, signal: AbortSignal) => Promise<boolean>;
}

interface Wanted {
  callers: number;
  readonly stop: AbortController;
}

/** Pods that start are asked so often, in milliseconds. */
export const askMs = 100;

/** So many pods of a tenant are asked. */
const mostPods = 4;

/**
 * Pods that run and are not ready yet. While somebody waits for a tenant, they are asked whether their API servers answer: that is seconds
 * before a pod is ready, because a pod has further containers, and kubelet and controllers pass the news on. Once for all who wait.
 */
export class StartingPods {
  readonly #options: StartingPodsOptions;
  readonly #starting = new Map<string, readonly PodAddress[]>();
  readonly #wanted = new Map<string, Wanted>();

  constructor(options: StartingPodsOptions) {
    this.#options = options;
  }

  /** Says which pods of a tenant start now. */
  set(tenant: string, addresses: readonly PodAddress[]): void {
    if (addresses.length === 0) this.#starting.delete(tenant);
    else this.#starting.set(tenant, addresses.slice(0, mostPods));
  }

  /** Tenants that somebody waits for. */
  get size(): number {
    return this.#wanted.size;
  }

  /** A caller waits for a tenant. Returns what ends that. */
  want(tenant: string): () => void {
    const known = this.#wanted.get(tenant);
    const wanted = known ?? { callers: 0, stop: new AbortController() };
    wanted.callers += 1;
    if (known === undefined) {
      this.#wanted.set(tenant, wanted);
      detached(this.#ask(tenant, wanted.stop.signal), this.#options.log, 'asking pods that start');
    }
    let isWaiting = true;
    return () => {
      if (!isWaiting) return;
      isWaiting = false;
      wanted.callers -= 1;
      if (wanted.callers === 0) this.#forget(tenant, wanted);
    };
  }

  /** Asks no longer. */
  close(): void {
    for (const [tenant, wanted] of this.#wanted) this.#forget(tenant, wanted);
  }

  #forget(tenant: string, { stop }: Wanted): void {
    if (this.#wanted.get(tenant)?.stop === stop) this.#wanted.delete(tenant);
    stop.abort(new Error('nobody waits anymore'));
  }

  async #ask(tenant: string, signal: AbortSignal): Promise<void> {
    const { clock, pods, answers } = this.#options;
    const ask = async (address: PodAddress): Promise<void> => {
      if (await answers(address, signal)) pods.tell(tenant, [address]);
    };
    try {
      for (;;) {
        await Promise.all((this.#starting.get(tenant) ?? []).map(ask));
        await sleep(clock, askMs, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
