/** A pending action of a clock. */
export interface Timer {
  /** Forgets the action; harmless when it has run already. */
  cancel(): void;
}

/** Time as an argument: tests bring their own. */
export interface Clock {
  /** The wall clock: for what people and certificates see. It may jump. */
  now(): Date;
  /** Milliseconds that only ever grow: for deadlines and durations. */
  monotonic(): number;
  /** Runs the action once, not before `ms` milliseconds have passed. Any length is allowed. */
  after(ms: number, action: () => void): Timer;
}

/** setTimeout fires at once beyond this. */
const longestTimeout = 2 ** 31 - 1;

/** The machine's clocks. A timer keeps the process alive until it has run or is canceled. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
  after(ms, action) {
    const due = performance.now() + ms;
    let handle: NodeJS.Timeout | undefined;
    const arm = (): void => {
      const left = due - performance.now();
      handle = setTimeout(left > longestTimeout ? arm : action, Math.min(Math.max(left, 0), longestTimeout));
    };
    arm();
    return {
      cancel: () => {
        clearTimeout(handle);
      },
    };
  },
};

/** Resolves after `ms`; rejects with the signal's reason when that aborts first. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const aborted = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.after(ms, () => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    });
    signal?.addEventListener('abort', aborted, { once: true });
  });
}
