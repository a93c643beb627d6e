import { expect } from '@jest/globals';
import { migrate } from '../../stores/migration/migrate.ts';
import type { MigrationOptions, MigrationOutcome } from '../../stores/migration/migration.ts';
import type { MigrationRecord } from '../../stores/migration/migration-journal.ts';
import type { MigrationProgress } from '../../stores/migration/migration-progress.ts';
import { put } from '../builders/put.ts';
import { FakeClock } from '../fake/fake-clock.ts';
import { MemoryTenancy } from '../fake/memory-tenancy.ts';

/** A tenant with some keys that is to move to another store in memory, and everything around it. */
export class MovingTenancy {
  readonly source = new MemoryTenancy();
  readonly target = new MemoryTenancy();
  readonly clock = new FakeClock();
  readonly records: MigrationRecord[] = [];
  readonly reports: MigrationProgress[] = [];
  readonly handshake: string[] = [];
  readonly cancel = new AbortController();
  readonly stop = new AbortController();
  /** False: the request for read-only mode is never fulfilled. */
  frozen = true;
  #writes = 0;

  constructor() {
    for (let index = 0; index < 10; index += 1) this.source.tenantWrites(put(`pods/${index}`, `first ${index}`));
    this.target.revision = 3n;
  }

  /** What one process is given. */
  options(over: Partial<MigrationOptions> = {}): MigrationOptions {
    return {
      source: () => Promise.resolve(this.source.open()),
      target: () => Promise.resolve(this.target.open()),
      journal: {
        read: () => Promise.resolve(this.records.at(-1)),
        write: (record) => {
          this.records.push(record);
          return Promise.resolve();
        },
      },
      freeze: {
        request: (signal) => {
          this.handshake.push('request');
          if (this.frozen) return Promise.resolve();
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              reject(signal.reason as Error);
            });
          });
        },
        release: () => {
          this.handshake.push('release');
          return Promise.resolve();
        },
      },
      clock: this.clock,
      signal: this.stop.signal,
      cancel: this.cancel.signal,
      report: (progress) => this.reports.push(progress),
      ...over,
    };
  }

  /** Runs to the end, and advances the clock whenever something waits. */
  async run(over: Partial<MigrationOptions> = {}): Promise<MigrationOutcome> {
    const state = { ended: false };
    const outcome = migrate(this.options(over)).finally(() => {
      state.ended = true;
    });
    outcome.catch(() => undefined);
    for (let turn = 0; turn < 5000; turn += 1) {
      if (state.ended) return outcome;
      await this.clock.advance(this.clock.nextDueMs ?? 0);
    }
    throw new Error(`no end in sight: ${JSON.stringify(this.records.at(-1))}`);
  }

  /** The tenant writes a little before each call to the source, as long as it may. */
  tenantIsBusy(writes = 60): void {
    this.source.before = () => {
      if (this.source.fenced || this.#writes >= writes) return;
      this.#writes += 1;
      const key = `pods/${this.#writes % 13}`;
      this.source.tenantWrites(this.#writes % 5 === 0 ? { is: 'deleted', key } : put(key, `write ${this.#writes}`));
    };
  }

  /** Every phase in the journal. */
  get phases(): readonly string[] {
    return this.records.map(({ phase }) => phase);
  }

  /** The target has everything, and the source takes no writes. */
  expectDone(outcome: MigrationOutcome): void {
    expect(outcome.is).toBe('done');
    expect(this.target.texts()).toEqual(this.source.texts());
    expect({ source: this.source.fenced, target: this.target.fenced }).toEqual({ source: true, target: false });
    expect(this.target.revision).toBeGreaterThan(this.source.revision);
  }

  /** The source has its writes, and the target is empty. */
  expectRolledBack(outcome: MigrationOutcome, reason: RegExp): void {
    expect(outcome).toMatchObject({ is: 'rolled-back', reason: expect.stringMatching(reason) });
    expect(this.target.texts()).toEqual([]);
    expect(this.source.fenced).toBe(false);
  }
}
