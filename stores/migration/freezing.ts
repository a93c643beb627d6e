import { Follower } from './following.ts';
import type { MigrationRun } from './migration-run.ts';

/** Between two looks at the source while nothing changes there, in milliseconds. */
const lookMs = 200;

/**
 * Asks for the freeze and follows the source until it is in force and nearly nothing is left. Returns the revision up to which
 * the target has everything. Throws what the handshake and the stores throw, and at a checkpoint.
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
  const asked = answer.catch(() => undefined);
  const answered = (): boolean => isAnswered;
  try {
    while (!answered()) {
      run.checkpoint();
      if ((await follower.round()) > 0) continue;
      const paused = run.pause(lookMs);
      // The end of the process is seen at the next checkpoint, if not here.
      paused.catch(() => undefined);
      await Promise.race([asked, paused]);
    }
  } finally {
    over.abort(new Error('the freeze is not waited for any more'));
  }
  run.checkpoint();
  await answer;
  const { source } = await run.stores();
  await run.lead.renew(await source.revision(), run.checkpoint);
  await follower.untilNear();
  return follower.at;
}
