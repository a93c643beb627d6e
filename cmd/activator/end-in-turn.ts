import { sleep } from '../../runtime/clock.ts';
import type { Clock } from '../../runtime/clock.ts';

/** An activator, as far as its end needs it. */
export interface Ending {
  /** Says to probes that nobody is to be led here anymore. */
  readonly beUnready: () => void;
  /** Accepts no connection anymore. Open ones stay. */
  readonly stopListening: () => void;
  /** Resolves when no connection is open. */
  readonly over: () => Promise<void>;
}

/** How long the parts of an end take, in milliseconds. */
export interface EndTimes {
  /** New connections are served so long: meanwhile the manager leads the calls of all tenants that sleep to other activators. */
  readonly servedMs: number;
  /** Connections that are still open have so much more time. */
  readonly openMs: number;
}

/** Together less than terminationGracePeriodSeconds of the Deployment, which is 30 seconds. */
export const endTimes: EndTimes = { servedMs: 10_000, openMs: 15_000 };

/** Ends an activator so that no caller is refused who was led to it. Without the waits as soon as `hurry` aborts. */
export async function endInTurn(
  activator: Ending,
  { clock, hurry, times = endTimes }: { readonly clock: Clock; readonly hurry: AbortSignal; readonly times?: EndTimes },
): Promise<void> {
  activator.beUnready();
  const over = new AbortController();
  try {
    await sleep(clock, times.servedMs, hurry);
    activator.stopListening();
    const isOver = activator.over().then(() => {
      over.abort(new Error('no connection is open'));
    });
    await Promise.race([isOver, sleep(clock, times.openMs, AbortSignal.any([hurry, over.signal]))]);
  } catch (error) {
    if (!hurry.aborted && !over.signal.aborted) throw error;
  } finally {
    activator.stopListening();
  }
}
