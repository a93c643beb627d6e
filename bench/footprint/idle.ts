import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

/** Fraction of this machine's processors that was busy between two samples, 0 to 1. */
async function busyShare(ms: number): Promise<number> {
  const look = (): { readonly idle: number; readonly all: number } => {
    const times = cpus().map((cpu) => cpu.times);
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    return {
      idle: sum(times.map(({ idle }) => idle)),
      all: sum(times.flatMap((time) => Object.values<number>(time))),
    };
  };
  const before = look();
  await pause(ms);
  const after = look();
  return 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all);
}

/**
 * Waits until the processors are less than `share` busy for a second, at most `timeoutMs`: leftover work of an earlier
 * measurement must not count for the next.
 * @returns the last fraction.
 */
export async function idleMachine(share = 0.2, timeoutMs = 15_000): Promise<number> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const busy = await busyShare(1000);
    if (busy < share || performance.now() > deadline) return busy;
  }
}
