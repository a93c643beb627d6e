import { setTimeout as delay } from 'node:timers/promises';

import { errorReason } from './error-reason.ts';

/** How often apt-get is tried while another one runs: for ten minutes. */
const mostTries = 300;

const betweenTriesMs = 2000;

/**
 * Runs apt-get, and waits while another process holds one of its locks: apt-get has an option for that, but `update` does not heed it.
 * Throws what `execute` throws.
 */
export const aptGet = async (
  words: readonly string[],
  execute: (program: string, words: readonly string[]) => Promise<string>,
  wait: (ms: number) => Promise<unknown> = delay,
): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      await execute('apt-get', words);
      return;
    } catch (error) {
      if (tries === mostTries || !errorReason(error).includes('Could not get lock')) throw error;
      await wait(betweenTriesMs);
    }
  }
};
