import { annotations } from '../../api/names.ts';
import { sleep } from '../../runtime/clock.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ReadOnlyHandshake } from '../../stores/migration/read-only-handshake.ts';
import type { JobChannel } from './job-channel.ts';

/** The interval at which the answer of the controller is polled, in milliseconds: writes are denied meanwhile. */
const lookMs = 50;

/** Has the controller deny writes in the tenant. */
export class JobFreeze implements ReadOnlyHandshake {
  readonly #channel: JobChannel;
  readonly #clock: Clock;
  readonly #newRequest: () => string;

  /** `newRequest` gives another text each time. */
  constructor(channel: JobChannel, clock: Clock, newRequest: () => string) {
    this.#channel = channel;
    this.#clock = clock;
    this.#newRequest = newRequest;
  }

  async request(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const request = this.#newRequest();
    let answer = await this.#channel.write({ [annotations.migrationFreezeWanted]: request });
    while (answer.freezeInForce !== request) {
      await sleep(this.#clock, lookMs, signal);
      answer = await this.#channel.read();
    }
  }

  async release(): Promise<void> {
    await this.#channel.write({ [annotations.migrationFreezeWanted]: undefined });
  }
}
