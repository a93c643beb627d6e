import { Follower } from './following.ts';
import type { MigrationRun } from './migration-run.ts';

/** Milliseconds between two polls of the source while nothing changes there. */
const lookMs = 200;

/**
 * Requests read-only mode and follows the source until that is in force and almost nothing is left to copy. Returns the revision up to
 * which the target has everything. Throws what the handshake and the datastores throw, and at a checkpoint.
 */
export async function followUntilFrozen(run: MigrationRun, from: bigint): Promise<bigint> {
  const follower = new Follower(run, from);
  const { signal, cancel, freeze } = run.options;
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal, ...(cancel === undefined ? [] : [cancel])]);
  let isAnswered = false;
  const answer = freeze.request(ended).finally(() => {
    isAnswered = true;
  });
  const settled = answer.catch(() => undefined);
  const answered = (): boolean => isAnswered;
  try {
    while (!answered()) {
      run.checkpoint();
      if ((await follower.round()) > 0) continue;
      const paused = run.pause(lookMs);
      // The end of the process is seen at the next checkpoint, if not here.
      paused.catch(() => undefined);
      await Promise.race([settled, paused]);
    }
  } finally {
    over.abort(new Error('no longer waiting for the tenant to become read-only'));
  }
  run.checkpoint();
  await answer;
  const { source } = await run.stores();
  await run.lead.renew(await source.revision(), run.checkpoint);
  await follower.untilNear();
  return follower.at;
}
