import { slowness } from '../cluster/slowness.ts';

/** When to stop waiting for something that takes at most so many milliseconds on a good machine, in milliseconds since 1970. */
export function deadlineIn(ms: number): number {
  return Date.now() + ms * slowness();
}
