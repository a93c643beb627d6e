import { setTimeout as pause } from 'node:timers/promises';

/** Ends after so many milliseconds, or as soon as the measurement is over. */
export async function pauseUnlessOver(ms: number, over: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal: over });
  } catch (error) {
    if (!over.aborted) throw error;
  }
}
