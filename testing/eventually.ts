import { setTimeout as delay } from 'node:timers/promises';
import { patient } from './patient.ts';

/**
 * Repeats what a real server refuses until it has learned of a change, such as new rights or its own restart. Throws what `act` threw last
 * when that takes longer than so many milliseconds on a good machine.
 */
export async function eventually<T>(act: () => Promise<T>, withinMs = 30_000): Promise<T> {
  for (const end = performance.now() + patient(withinMs); ;) {
    try {
      return await act();
    } catch (error) {
      if (performance.now() > end) throw error;
      await delay(50);
    }
  }
}
