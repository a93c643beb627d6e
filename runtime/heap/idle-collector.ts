import type { Clock, Timer } from '../clock.ts';
import { mayShrink, usualSpareBytes } from './may-shrink.ts';
import type { HeapLook } from './may-shrink.ts';

/** What an idle collector works with. */
export interface IdleCollectorOptions {
  readonly clock: Clock;
  readonly look: () => HeapLook;
  /** Collects all garbage, which stops the process meanwhile, and gives back to the system what is free then. */
  readonly collect: () => void;
  /** By how much the heap may grow, and a quarter more; 16 MiB by default. The smaller it is, the shorter a collection takes. */
  readonly spareBytes?: number;
}

const everyMs = 10_000;

/**
 * Shrinks the heap when the process has time. V8 lets a heap grow to several times what is in use before it collects all of it, and
 * collects when something is allocated: after a burst of work, a process that waits keeps the memory of the burst.
 */
export class IdleCollector {
  readonly #options: IdleCollectorOptions;
  #leastBytes = 0;
  #timer: Timer | undefined;

  constructor(options: IdleCollectorOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, look, collect, spareBytes = usualSpareBytes } = this.#options;
    this.#timer = clock.after(everyMs, () => {
      const seen = look();
      if (mayShrink(seen, this.#leastBytes, spareBytes)) {
        collect();
        this.#leastBytes = look().committedBytes;
      }
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }
}
