import type { Clock } from './clock.ts';

/** A signal that aborts when time is up or when one of its parents does. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Why it aborted; undefined when it has not. */
  readonly reason: unknown;
  /** Time no longer counts; the parents still do. */
  readonly disarm: () => void;
  /** Must be called when the work is over: forgets timer and parents. */
  readonly release: () => void;
}

/** Starts counting at once. */
export function deadline(clock: Clock, ms: number, parents: readonly AbortSignal[]): Deadline {
  const controller = new AbortController();
  const follow = (event: Event): void => {
    controller.abort((event.target as AbortSignal).reason);
  };
  for (const parent of parents) {
    if (parent.aborted) controller.abort(parent.reason);
    parent.addEventListener('abort', follow, { once: true });
  }
  const timer = clock.after(ms, () => {
    controller.abort(new Error(`no answer within ${ms / 1000} s`));
  });
  return {
    signal: controller.signal,
    get reason() {
      return controller.signal.aborted ? (controller.signal.reason as unknown) : undefined;
    },
    disarm: () => {
      timer.cancel();
    },
    release: () => {
      timer.cancel();
      for (const parent of parents) parent.removeEventListener('abort', follow);
    },
  };
}
