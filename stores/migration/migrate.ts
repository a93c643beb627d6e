import { CompactedError } from '../tenancy-data.ts';
import { copyEverything, prepare } from './copying.ts';
import { JournalError, UnequalError, mostTries, planFor } from './failure-plan.ts';
import type { FailurePlan } from './failure-plan.ts';
import { finish } from './finishing.ts';
import { followAndCompare } from './following.ts';
import { followUntilFrozen } from './freezing.ts';
import type { Migrate, MigrationOptions, MigrationOutcome } from './migration.ts';
import type { MigrationRecord } from './migration-journal.ts';
import { MigrationRun } from './migration-run.ts';
import { rollBack } from './rolling-back.ts';

/** See `Migrate`. */
export const migrate: Migrate = async (options: MigrationOptions): Promise<MigrationOutcome> => {
  await using run = new MigrationRun(options);
  try {
    return await new Migration(run).outcome();
  } catch (error) {
    throw error instanceof JournalError ? error.cause : error;
  }
};

/** The part of a migration in one process: its progress through the phases and its failures. */
class Migration {
  readonly #run: MigrationRun;
  #inARow = 0;
  #unequal = 0;
  #compacted = 0;
  #writtenAtFailure = 0;
  #pauseMs = 0;
  /** The source may be fenced, by this process or one before it. */
  #mayBeFenced = true;
  #isResumed = false;

  constructor(run: MigrationRun) {
    this.#run = run;
  }

  async outcome(): Promise<MigrationOutcome> {
    const record = (await this.#run.options.journal.read()) ?? { phase: 'Preparing' };
    let outcome = outcomeOf(record);
    if (outcome !== undefined) return outcome;
    this.#isResumed = record.phase === 'Finishing';
    await this.#run.enter(this.#isResumed ? begun(record) : record);
    for (;;) {
      await this.#advance();
      outcome = outcomeOf(this.#run.record);
      if (outcome !== undefined) return outcome;
    }
  }

  /** Runs one phase, or handles its failure. */
  async #advance(): Promise<void> {
    const run = this.#run;
    run.options.signal.throwIfAborted();
    try {
      await run.enter(await this.#next());
      this.#inARow = 0;
    } catch (error) {
      if (error instanceof JournalError) throw error;
      if (run.meter.written !== this.#writtenAtFailure) this.#inARow = 0;
      this.#writtenAtFailure = run.meter.written;
      const tries = run.record.tries ?? 0;
      const setbacks = { inARow: this.#inARow, tries, unequal: this.#unequal, compacted: this.#compacted };
      this.#inARow += 1;
      await this.#act(planFor(error, run.record.phase, setbacks), error);
    }
  }

  /** Runs the current phase; returns the next record. */
  async #next(): Promise<MigrationRecord> {
    const run = this.#run;
    const { phase, reason = 'the migration was aborted', tries } = run.record;
    if (phase === 'RollingBack') {
      return { tries, phase: 'RolledBack', reason: await rollBack(run, reason, this.#inARow) };
    }
    if (phase === 'Finishing') return this.#finished();
    await this.#unfenced();
    await run.pause(this.#pauseMs);
    this.#pauseMs = 0;
    run.checkpoint();
    const from = BigInt(run.record.revision ?? 0);
    switch (phase) {
      case 'Preparing':
        await prepare(run);
        return { tries, phase: 'Copying' };
      case 'Copying':
        return { tries, phase: 'Following', revision: String(await copyEverything(run)) };
      case 'Following':
        return { tries, phase: 'WaitingForReadOnly', revision: String(await followAndCompare(run, from)) };
      case 'WaitingForReadOnly':
        return begun({ tries, phase: 'Finishing', revision: String(await followUntilFrozen(run, from)) });
      case 'Done':
      case 'RolledBack':
        return run.record;
    }
  }

  async #finished(): Promise<MigrationRecord> {
    const { record } = this.#run;
    const { tries = 1, revision = '0' } = record;
    const isResumed = this.#isResumed;
    this.#isResumed = false;
    this.#mayBeFenced = true;
    if (tries > mostTries) {
      return { ...record, phase: 'RollingBack', reason: `the last step started ${mostTries} times and never finished` };
    }
    return { phase: 'Done', tries, summary: await finish(this.#run, BigInt(revision), isResumed) };
  }

  async #act(plan: FailurePlan, error: unknown): Promise<void> {
    const run = this.#run;
    if (plan.is === 'throw') {
      if (run.record.phase === 'Finishing') await this.#goBack('Following');
      throw error;
    }
    await run.reopen();
    if (plan.is === 'roll back') {
      await run.enter({ ...run.record, phase: 'RollingBack', reason: plan.reason });
      return;
    }
    if (error instanceof UnequalError) this.#unequal += 1;
    if (error instanceof CompactedError) this.#compacted += 1;
    this.#pauseMs = plan.afterMs;
    if (plan.is === 'go back') await this.#goBack(plan.to);
    // Throws if another process has taken over: this one must not begin to write again.
    else await run.save(run.record);
    run.meter.hindered(plan.problem);
    if (run.record.phase === 'RollingBack') await run.pause(plan.afterMs);
  }

  /** Returns to an earlier phase. The journal is written first: while it may contain Done, the fence must stay. */
  async #goBack(to: 'Copying' | 'Following'): Promise<void> {
    const { tries, revision } = this.#run.record;
    this.#run.equality = undefined;
    await this.#run.enter({
      phase: to,
      tries,
      ...(to === 'Following' && revision !== undefined ? { revision } : {}),
    });
    // Retried before the phase begins, as often as necessary.
    await this.#unfenced().catch(() => undefined);
  }

  /** Reverts the effects of an aborted last step. */
  async #unfenced(): Promise<void> {
    if (!this.#mayBeFenced) return;
    await (await this.#run.source()).unfence();
    if (this.#run.record.tries !== undefined) await this.#run.options.freeze.release();
    this.#mayBeFenced = false;
  }
}

/** Counts another start of the last step. */
function begun(record: MigrationRecord): MigrationRecord {
  return { ...record, tries: (record.tries ?? 0) + 1 };
}

function outcomeOf({ phase, summary, reason }: MigrationRecord): MigrationOutcome | undefined {
  if (phase === 'Done' && summary !== undefined) return { is: 'done', summary };
  if (phase === 'RolledBack') return { is: 'rolled-back', reason: reason ?? 'the migration was aborted' };
  return undefined;
}
