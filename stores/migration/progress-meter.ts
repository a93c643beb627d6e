import type { Clock } from '../../runtime/clock.ts';
import type { MigrationPhase } from './migration-journal.ts';
import type { MigrationProgress } from './migration-progress.ts';

/** Reports are this far apart, in milliseconds, unless the phase changes. */
const paceMs = 1000;

/** Rates are over this long, in milliseconds. */
const windowMs = 5000;

interface Sample {
  readonly at: number;
  readonly keys: number;
  readonly bytes: number;
}

/** Counts what a migration does, and reports it at a bounded pace. */
export class ProgressMeter {
  readonly #clock: Clock;
  readonly #report: (progress: MigrationProgress) => void;
  #phase: MigrationPhase = 'Preparing';
  #reportedAt = -Infinity;
  /** Written since this process began. */
  #written: Omit<Sample, 'at'> = { keys: 0, bytes: 0 };
  #samples: readonly Sample[] = [];
  #known = 0;
  #total: number | undefined;
  #raised: MigrationProgress['raised'];
  #problem: string | undefined;

  constructor(clock: Clock, report: (progress: MigrationProgress) => void = () => undefined) {
    this.#clock = clock;
    this.#report = report;
  }

  /** Keys that were written since this process began. */
  get written(): number {
    return this.#written.keys;
  }

  /** Begins a phase; reports at once. */
  enter(phase: MigrationPhase): void {
    this.#phase = phase;
    this.#problem = undefined;
    this.#raised = undefined;
    this.#reportNow();
  }

  /** A copy begins, of so many keys. */
  begin(total: number): void {
    [this.#known, this.#total] = [0, total];
    this.#reportSometimes();
  }

  /** So many more keys are known to be in the target; reported with what is written next. */
  passed(keys: number): void {
    this.#known += keys;
  }

  /** Keys and bytes were written to the target. */
  wrote(keys: number, bytes: number): void {
    this.#written = { keys: this.#written.keys + keys, bytes: this.#written.bytes + bytes };
    this.#problem = undefined;
    this.#reportSometimes();
  }

  /** The target's revisions are being raised. */
  raising(reached: bigint, wanted: bigint): void {
    this.#raised = { reached: reached.toString(), wanted: wanted.toString() };
    this.#reportSometimes();
  }

  /** Something is waited for that should have worked; reports at once. */
  hindered(problem: string): void {
    this.#problem = problem;
    this.#reportNow();
  }

  #reportSometimes(): void {
    if (this.#clock.monotonic() - this.#reportedAt >= paceMs) this.#reportNow();
  }

  #reportNow(): void {
    const now = this.#clock.monotonic();
    this.#reportedAt = now;
    const sample = { at: now, ...this.#written };
    const recent = this.#samples.filter(({ at }) => now - at <= windowMs);
    this.#samples = [...recent, sample];
    const first = recent[0] ?? this.#samples[0] ?? sample;
    const seconds = (now - first.at) / 1000;
    const rate = (amount: number): number => (seconds > 0 ? Math.round(amount / seconds) : 0);
    this.#report({
      phase: this.#phase,
      keys: this.#known,
      bytes: this.#written.bytes,
      keysPerSecond: rate(sample.keys - first.keys),
      bytesPerSecond: rate(sample.bytes - first.bytes),
      ...(this.#total === undefined ? {} : { remainingKeys: Math.max(0, this.#total - this.#known) }),
      raised: this.#raised,
      problem: this.#problem,
    });
  }
}
