import type { IWatchRequest, IWatchResponse } from 'etcd3';
import { StoreError } from '../../store-error.ts';
import { CompactedError } from '../../tenancy-data.ts';
import type { KeyRange } from '../range.ts';

/** The library's gRPC stream; the library's own type is incomplete. */
interface WatchStream {
  on(event: 'data', listener: (response: IWatchResponse) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  write(request: IWatchRequest): unknown;
  end(): unknown;
  cancel(): void;
  pause?(): unknown;
  resume?(): unknown;
}

/** What a watch reports: changes, in order, or that there were no others up to a revision. */
export type WatchNews =
  | { readonly is: 'events'; readonly events: IWatchResponse['events'] }
  | { readonly is: 'progress'; readonly revision: bigint };

/** Thrown by a watch that starts before what etcd has retained. */
export class WatchCompactedError extends CompactedError {
  /** The first revision that is retained. */
  readonly revision: bigint;

  constructor(revision: bigint) {
    super(`the changes up to revision ${revision} were compacted`);
    this.revision = revision;
  }
}

/** The number of unread responses at which the server is paused. */
const enough = 8;

/** Milliseconds within which the server must confirm a watch. */
const openWithinMs = 5000;

/** One watch on a range. Pauses the server while nothing reads, so that memory is bounded. */
export class EtcdWatch implements AsyncDisposable {
  readonly #stream: WatchStream;
  readonly #waiting: IWatchResponse[] = [];
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  private constructor(stream: WatchStream) {
    this.#stream = stream;
    stream.on('data', (response) => {
      this.#waiting.push(response);
      if (this.#waiting.length >= enough) stream.pause?.();
      this.#wake();
    });
    stream.on('error', (error) => {
      this.#fail(error);
    });
    stream.on('end', () => {
      this.#fail(new Error('14 UNAVAILABLE: the watch ended'));
    });
  }

  /** Watches everything from revision `from` on; resolves once the server has answered. */
  static async open(stream: WatchStream, range: KeyRange, from: bigint): Promise<EtcdWatch> {
    const watch = new EtcdWatch(stream);
    const { start: key, end: range_end } = range;
    stream.write({ create_request: { key, range_end, start_revision: from.toString(), fragment: true } });
    if (!(await watch.#arrived(openWithinMs))) {
      watch.#giveUp();
      throw new Error('4 DEADLINE_EXCEEDED: no answer to a watch');
    }
    return watch;
  }

  /** Requests the revision up to which all changes were sent. etcd answers only when the watch has caught up. */
  askProgress(): void {
    if (this.#failure === undefined) this.#stream.write({ progress_request: {} });
  }

  /**
   * What comes next, or undefined when nothing comes within `withinMs`. Throws `WatchCompactedError`, and `StoreError` when the
   * connection is lost: the watch is of no use then.
   */
  async next(withinMs: number): Promise<WatchNews | undefined> {
    for (;;) {
      if (!(await this.#arrived(withinMs).catch(lost))) return undefined;
      const response = this.#waiting.shift();
      if (response === undefined) continue;
      if (this.#waiting.length === 0) this.#stream.resume?.();
      if (response.canceled) throw canceledError(response);
      if (response.events.length > 0) return { is: 'events', events: response.events };
      if (!response.created) return { is: 'progress', revision: BigInt(response.header.revision) };
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#giveUp();
    return Promise.resolve();
  }

  #giveUp(): void {
    this.#fail(new Error('the watch was closed'));
    // `end` first: if a writable stream is canceled, the library assumes that the server is lost and drops all calls.
    this.#stream.end();
    this.#stream.cancel();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  /** True once something waits to be read; false when nothing came in time. Throws what the stream failed with. */
  async #arrived(withinMs: number): Promise<boolean> {
    if (this.#waiting.length === 0 && this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    if (this.#waiting.length > 0) return true;
    if (this.#failure !== undefined) throw this.#failure;
    return false;
  }
}

function lost(cause: unknown): never {
  const message = cause instanceof Error ? cause.message : String(cause);
  throw new StoreError('Unreachable', `etcd does not answer: a watch was interrupted (${message})`, { cause });
}

function canceledError(response: IWatchResponse): Error {
  const compacted = BigInt(response.compact_revision);
  if (compacted > 0n) return new WatchCompactedError(compacted);
  return new StoreError('Failed', `etcd canceled a watch: ${response.cancel_reason}`);
}
