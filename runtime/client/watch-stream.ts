import type { KindRef, Resource } from '../../api/meta.ts';
import type { Clock } from '../clock.ts';
import type { WatchEvent } from './cluster.ts';
import { UnreachableError } from './errors.ts';
import { LineSplitter } from './line-splitter.ts';
import { parseWatchEvent } from './watch-event.ts';

/** The bytes of a watch: readable, and destroyable from outside. */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  destroy(error?: Error): unknown;
}

export interface WatchStreamOptions {
  readonly clock: Clock;
  /** Milliseconds without a byte after which the server counts as lost; bookmarks come about every minute. */
  readonly silenceMs: number;
  readonly maxLineBytes: number;
  readonly metadataOnly: boolean;
  readonly onBytes: () => void;
}

/**
 * The events in the bytes of a watch. Throws `ApiError` for an ERROR event, `UnreachableError` when the server falls
 * silent, breaks off in the middle of a line or sends what is no event.
 */
export async function* watchEvents<T extends Resource>(
  kind: KindRef<T>,
  bytes: ByteStream,
  options: WatchStreamOptions,
): AsyncGenerator<WatchEvent<T>> {
  const splitter = new LineSplitter(options.maxLineBytes);
  for await (const chunk of noticeSilence(bytes, options)) {
    options.onBytes();
    for (const line of splitter.push(chunk)) yield parseWatchEvent(kind, line, options.metadataOnly);
  }
  if (splitter.end() !== undefined) throw new UnreachableError('the watch ended in the middle of an event');
}

/** Time counts only while a byte is waited for, not while the reader is busy. */
async function* noticeSilence(bytes: ByteStream, options: WatchStreamOptions): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  try {
    for (;;) {
      const timer = options.clock.after(options.silenceMs, () => {
        bytes.destroy(new UnreachableError(`the watch has been silent for ${options.silenceMs / 1000} s`));
      });
      const next = await iterator.next().finally(() => {
        timer.cancel();
      });
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}
