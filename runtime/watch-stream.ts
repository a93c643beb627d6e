import type { KindRef, Resource } from '../api/meta.ts';
import { statusError } from './api-status.ts';
import type { Clock } from './clock.ts';
import type { WatchEvent } from './cluster.ts';
import { UnreachableError } from './errors.ts';
import { LineSplitter } from './line-splitter.ts';
import { parseJson, presentObject } from './present-object.ts';

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

/** The annotation of the bookmark that ends the initial state of a streamed list (KEP-3157). */
const initialEventsEnd = 'k8s.io/initial-events-end';

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
    for (const line of splitter.push(chunk)) yield parseEvent(kind, line, options.metadataOnly);
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

function parseEvent<T extends Resource>(kind: KindRef<T>, line: string, metadataOnly: boolean): WatchEvent<T> {
  const event = parseJson(line);
  if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event)) {
    throw new UnreachableError('the watch sent a line that is no event');
  }
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event.type, object: presentObject(kind, event.object, metadataOnly) };
    case 'BOOKMARK': {
      const { metadata } = presentObject(kind, event.object, true);
      const type = metadata.annotations?.[initialEventsEnd] === 'true' ? 'SYNC' : 'BOOKMARK';
      return { type, resourceVersion: metadata.resourceVersion ?? '' };
    }
    case 'ERROR':
      throw statusError(event.object);
    default:
      throw new UnreachableError(
        `the watch sent an event of the unknown type ${JSON.stringify(event.type).slice(0, 40)}`,
      );
  }
}
