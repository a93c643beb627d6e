import { annotations } from '../../api/names.ts';
import type { MigrationChannel } from '../../controllers/tenantcontrolplane/datastore/migration/migration-job.ts';
import { sleep } from '../../runtime/clock.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/observe/logger.ts';
import type { MigrationProgress } from '../../stores/migration/migration-progress.ts';
import type { JobChannel } from './job-channel.ts';

/** Between two messages, and how long none may get through, in milliseconds. */
const pace = { beatMs: 1000, silenceMs: 15_000 } as const;

/** What the heartbeat is between. */
export interface HeartbeatOptions {
  readonly channel: JobChannel;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called once, with the controller's reason, when the migration is to be undone. */
  readonly canceled: (reason: string) => void;
  /** Called when the API server was not reached for long: another process may be started in the place of this one. */
  readonly lost: (error: unknown) => void;
}

/** Reports the progress to the controller once a second, and learns whether to continue. */
export class JobHeartbeat {
  readonly #options: HeartbeatOptions;
  #latest: MigrationProgress | undefined;
  #reported: MigrationProgress | undefined;
  #isCanceled = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Takes note of how far the process is. */
  readonly report = (progress: MigrationProgress): void => {
    this.#latest = progress;
  };

  /** Beats until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, lost } = this.#options;
    let answeredAt = clock.monotonic();
    while (!signal.aborted) {
      try {
        this.#listen(await this.#beat());
        answeredAt = clock.monotonic();
      } catch (error) {
        log.warn('the progress cannot be written to the Job', { error });
        if (clock.monotonic() - answeredAt > pace.silenceMs) {
          lost(error);
          return;
        }
      }
      await sleep(clock, pace.beatMs, signal).catch(() => undefined);
    }
  }

  #beat(): Promise<MigrationChannel> {
    const { channel, log } = this.#options;
    const progress = this.#latest;
    if (progress === undefined || progress === this.#reported) return channel.read();
    this.#reported = progress;
    log.info('progress', { ...progress });
    return channel.write({ [annotations.migrationProgress]: JSON.stringify(progress) });
  }

  #listen({ cancel }: MigrationChannel): void {
    if (cancel === undefined || this.#isCanceled) return;
    this.#isCanceled = true;
    this.#options.canceled(cancel);
  }
}
