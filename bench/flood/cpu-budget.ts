import { setTimeout as pause } from 'node:timers/promises';

/** Part of one core that the client of a hostile tenant may use. The machine has two, on which everything else runs too. */
const mostOfCore = 0.6;

/** Shorter pauses are not worth a timer. */
const shortestMs = 5;

/** How long a process has to rest that has used so much CPU time in so much time, in milliseconds; 0 for no rest. */
export function restMs(usedMs: number, elapsedMs: number, most = mostOfCore): number {
  const rest = usedMs / most - elapsedMs;
  return rest < shortestMs ? 0 : rest;
}

/** Keeps this process below its part of a core. */
export class CpuBudget {
  readonly #began = performance.now();
  readonly #usedBefore = process.cpuUsage();

  /** Percent of one core since the begin. */
  get percent(): number {
    return (100 * this.#usedMs) / (performance.now() - this.#began);
  }

  /** Rests as long as needed. */
  async keep(): Promise<void> {
    const rest = restMs(this.#usedMs, performance.now() - this.#began);
    if (rest > 0) await pause(rest);
  }

  get #usedMs(): number {
    const { user, system } = process.cpuUsage(this.#usedBefore);
    return (user + system) / 1000;
  }
}
