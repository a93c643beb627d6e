import { slowness } from '../e2e/cluster/slowness.ts';

/** How long a test waits for something real that takes at most so long on a good machine, both in whole milliseconds. */
export function patient(ms: number): number {
  return Math.ceil(ms * slowness());
}
