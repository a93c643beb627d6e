import { bytesOf } from './copying.ts';
import type { MigrationRun } from './migration-run.ts';
import { verifyEverything } from './verification.ts';

/** After a round that takes no longer, the copy is near enough: about as much is left once the source is fenced. In milliseconds. */
const nearMs = 300;

/** Rounds after which the copy counts as near enough: the tenant writes as fast as it is copied, and read-only mode will slow it. */
const mostRounds = 200;

/** How often the journal is written while nothing else happens. In milliseconds. */
const saveMs = 10_000;

/** Copies what changes in the source, from one revision on. */
export class Follower {
  readonly #run: MigrationRun;
  #at: bigint;
  #savedAt: number;

  constructor(run: MigrationRun, at: bigint) {
    this.#run = run;
    this.#at = at;
    this.#savedAt = run.now();
  }

  /** The target has everything up to this revision of the source. */
  get at(): bigint {
    return this.#at;
  }

  /** Copies about a page of changes, and returns their number. Throws what the datastores throw, and at a checkpoint. */
  async round(checkpoint: () => void = this.#run.checkpoint): Promise<number> {
    const { source } = await this.#run.stores();
    const { changes, revision } = await source.changes(this.#at);
    if (changes.length > 0) {
      await this.#run.lead.keep(revision, checkpoint);
      await (await this.#run.writable()).write(changes);
      this.#run.meter.wrote(changes.length, bytesOf(changes));
    }
    this.#at = revision;
    if (this.#run.now() - this.#savedAt >= saveMs) {
      this.#savedAt = this.#run.now();
      await this.#run.save({ ...this.#run.record, revision: this.#at.toString() });
    }
    return changes.length;
  }

  /** Copies until a round is short. Throws at a checkpoint. */
  async untilNear(): Promise<void> {
    for (let round = 0; round < mostRounds; round += 1) {
      this.#run.checkpoint();
      const begun = this.#run.now();
      const copied = await this.round();
      if (copied === 0 || this.#run.now() - begun <= nearMs) return;
    }
  }

  /** Copies until the target has everything up to a revision. `checkpoint` is called between rounds. */
  async upTo(goal: bigint, checkpoint: () => void): Promise<void> {
    while (this.#at < goal) {
      checkpoint();
      await this.round(checkpoint);
    }
  }
}

/**
 * Follows until near, and compares everything while the tenant continues to write: a difference found now costs no pause. Returns the
 * revision up to which the target has everything. Throws `UnequalError`, what the datastores throw, and at a checkpoint.
 */
export async function followAndCompare(run: MigrationRun, from: bigint): Promise<bigint> {
  const follower = new Follower(run, from);
  await follower.untilNear();
  const { source, target } = await run.stores();
  await run.lead.renew(await source.revision(), run.checkpoint);
  const begun = run.now();
  const content = await verifyEverything({ source, target }, follower.at, run.checkpoint);
  const tookMs = run.now() - begun;
  run.equality = { source: follower.at, target: await target.revision(), changed: new Map(), content, tookMs };
  await follower.untilNear();
  return follower.at;
}
