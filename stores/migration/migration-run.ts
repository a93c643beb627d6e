import { sleep } from '../../runtime/clock.ts';
import type { TenancyData } from '../tenancy-data.ts';
import { CanceledError, JournalError } from './failure-plan.ts';
import type { MigrationOptions, OpenData } from './migration.ts';
import type { MigrationRecord } from './migration-journal.ts';
import { ProgressMeter } from './progress-meter.ts';
import { RevisionLead } from './revision-lead.ts';
import { changesSince } from './verification.ts';
import type { ChangedKeys, VerifiedContent } from './verification.ts';

/** Both stores were equal when the source was at one revision and the target at another. */
export interface Equality {
  readonly source: bigint;
  readonly target: bigint;
  /** What changed in the target since they were equal, up to its revision `target`. */
  readonly changed: ChangedKeys;
  readonly content: VerifiedContent;
  /** Milliseconds that it took to compare everything. */
  readonly tookMs: number;
}

/** The common state of the steps of one process. */
export class MigrationRun implements AsyncDisposable {
  readonly options: MigrationOptions;
  readonly meter: ProgressMeter;
  readonly lead: RevisionLead;
  /** The last full comparison; lost with the process. */
  equality: Equality | undefined;
  #record: MigrationRecord = { phase: 'Preparing' };
  readonly #source: Handle;
  readonly #target: Handle;

  constructor(options: MigrationOptions) {
    this.options = options;
    this.meter = new ProgressMeter(options.clock, options.report);
    this.lead = new RevisionLead(options.clock, (revision, checkpoint) => this.#raise(revision, checkpoint));
    this.#source = new Handle(options.source);
    this.#target = new Handle(options.target);
  }

  /** The target, in which the writes of every other connection are ended. Throws what opening throws. */
  async writable(): Promise<TenancyData> {
    return this.#target.writable();
  }

  /** Both datastores, opened if necessary. Throws what opening throws. */
  async stores(): Promise<{ readonly source: TenancyData; readonly target: TenancyData }> {
    return { source: await this.#source.get(), target: await this.#target.get() };
  }

  async source(): Promise<TenancyData> {
    return this.#source.get();
  }

  async target(): Promise<TenancyData> {
    return this.#target.get();
  }

  /** Call this between steps. Throws the reason to stop, or `CanceledError`. */
  readonly checkpoint = (): void => {
    this.options.signal.throwIfAborted();
    this.throwIfCanceled();
  };

  throwIfCanceled(): void {
    const { cancel } = this.options;
    if (cancel?.aborted !== true) return;
    throw new CanceledError(cancel.reason instanceof Error ? cancel.reason.message : 'the migration was canceled');
  }

  /** Milliseconds of the clock, for durations. */
  now(): number {
    return this.options.clock.monotonic();
  }

  /** Waits; ends early when the process stops or the migration is canceled. */
  async pause(ms: number): Promise<void> {
    if (ms === 0) return;
    const { signal, cancel, clock } = this.options;
    const ended = cancel === undefined || cancel.aborted ? signal : AbortSignal.any([signal, cancel]);
    await sleep(clock, ms, ended).catch(() => undefined);
    signal.throwIfAborted();
  }

  /** Raises the target's revision. Some datastores lose all earlier changes then, so those to compare are read first. */
  async #raise(wanted: bigint, checkpoint: () => void): Promise<void> {
    const target = await this.target();
    const { equality } = this;
    const changed =
      equality && new Map([...equality.changed, ...(await changesSince(target, equality.target, checkpoint))]);
    await target.raise(wanted, (reached) => {
      this.meter.raising(reached, wanted);
      checkpoint();
    });
    if (equality && changed) this.equality = { ...equality, changed, target: await target.revision() };
  }

  /** The record that this process wrote last. */
  get record(): MigrationRecord {
    return this.#record;
  }

  /** Throws `JournalError`. */
  async save(record: MigrationRecord): Promise<void> {
    try {
      await this.options.journal.write(record);
    } catch (cause) {
      throw new JournalError('the journal could not be written', { cause });
    }
    this.#record = record;
  }

  /** Begins a phase. Throws `JournalError`. */
  async enter(record: MigrationRecord): Promise<void> {
    await this.save(record);
    this.meter.enter(record.phase);
  }

  /** Closes the connections, so that the next use opens new ones. */
  async reopen(): Promise<void> {
    await Promise.all([this.#source.close(), this.#target.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reopen();
  }
}

/** A store's data, opened on first use. */
class Handle {
  readonly #open: OpenData;
  #data: TenancyData | undefined;
  #isWritable = false;

  constructor(open: OpenData) {
    this.#open = open;
  }

  async get(): Promise<TenancyData> {
    this.#data ??= await this.#open();
    return this.#data;
  }

  async writable(): Promise<TenancyData> {
    const data = await this.get();
    if (!this.#isWritable) await data.beginWrites();
    this.#isWritable = true;
    return data;
  }

  async close(): Promise<void> {
    const data = this.#data;
    this.#data = undefined;
    this.#isWritable = false;
    try {
      await data?.[Symbol.asyncDispose]();
    } catch {
      // A connection that is lost needs no closing.
    }
  }
}
