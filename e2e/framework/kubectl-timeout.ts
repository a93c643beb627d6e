import { slowness } from '../cluster/slowness.ts';

/** The flag that has kubectl wait no longer than so many seconds of a good machine. */
export function kubectlTimeout(seconds: number): string {
  return `--timeout=${Math.ceil(seconds * slowness())}s`;
}
