import { annotations } from '../../api/names.ts';
import type { MigrationJournal, MigrationRecord } from '../../stores/migration/migration-journal.ts';
import { GiveUpError } from './job-channel.ts';
import type { JobChannel } from './job-channel.ts';

/** How often someone else may write the Job while one record is written. */
const attempts = 20;

/** The journal of a migration in an annotation of its Job. Each record names its writer, so that no two are alike. */
export class JobJournal implements MigrationJournal {
  readonly #channel: JobChannel;
  readonly #writer: string;
  #seen: string | undefined;

  /** `writer` identifies this process. */
  constructor(channel: JobChannel, writer: string) {
    this.#channel = channel;
    this.#writer = writer;
  }

  async read(): Promise<MigrationRecord | undefined> {
    const { metadata } = await this.#channel.job();
    this.#seen = metadata.annotations?.[annotations.migrationJournal];
    if (this.#seen === undefined) return undefined;
    try {
      return JSON.parse(this.#seen) as MigrationRecord;
    } catch (error) {
      throw new GiveUpError(`the annotation ${annotations.migrationJournal} of the Job cannot be read`, {
        cause: error,
      });
    }
  }

  async write(record: MigrationRecord): Promise<void> {
    const text = JSON.stringify({ ...record, writer: this.#writer });
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const { metadata } = await this.#channel.job();
      const found = metadata.annotations?.[annotations.migrationJournal];
      // The answer to an earlier attempt may have been lost.
      if (found === text) break;
      if (found !== this.#seen) {
        // This does not fail the migration: another process has continued it.
        throw new Error('another process works on this migration: this one stops');
      }
      if (await this.#channel.writeIf(metadata.resourceVersion, { [annotations.migrationJournal]: text })) break;
      if (attempt === attempts) throw new Error('others write the Job too often to record the journal');
    }
    this.#seen = text;
  }
}
