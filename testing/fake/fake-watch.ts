import type { KindRef } from '../../api/meta.ts';
import type { WatchEvent, WatchOptions } from '../../runtime/client/cluster.ts';
import { kindIdOf, type Change, type FakeStore } from './fake-store.ts';
import { selects } from './selectors.ts';
import type { StoredObject } from './stored-object.ts';

/** What ends a watch from outside: an error is thrown into it; without one it is closed cleanly. */
export interface WatchEnd {
  readonly error?: Error;
}

/** Streams the changes of one selection until `ended` is aborted; its reason is a `WatchEnd`. */
export async function* watchStore(
  store: FakeStore,
  kind: KindRef,
  options: WatchOptions,
  ended: AbortSignal,
): AsyncGenerator<WatchEvent<StoredObject>> {
  const selected = selects(options);
  let at = options.resourceVersion === undefined ? store.revision : Number(options.resourceVersion);
  if (options.resourceVersion === undefined) {
    for (const object of store.list(kind).filter(selected)) yield { type: 'ADDED', object };
    yield { type: 'SYNC', resourceVersion: String(at) };
  }
  for (;;) {
    // Listening starts before looking, so that no change falls between.
    const change = wake(store, [options.signal, ended]);
    try {
      const changes = store.since(at);
      for (const entry of changes) {
        at = entry.revision;
        const event = entry.kindId === kindIdOf(kind) ? eventOf(entry, selected) : undefined;
        if (event !== undefined) yield event;
      }
      if (ended.aborted) {
        const { error } = ended.reason as WatchEnd;
        if (error) throw error;
        return;
      }
      options.signal.throwIfAborted();
      if (changes.length === 0) await change.promise;
    } finally {
      // A reader may leave at any event.
      change.stop();
    }
  }
}

function eventOf(change: Change, selected: (object: StoredObject) => boolean): WatchEvent<StoredObject> | undefined {
  const was = change.before !== undefined && selected(change.before);
  const is = change.after !== undefined && selected(change.after);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object: change.after };
  if (!was) return undefined;
  // As the server does: the last state of the object with the version of its going.
  const metadata = { ...change.before.metadata, resourceVersion: String(change.revision) };
  return { type: 'DELETED', object: { ...change.before, metadata } };
}

function wake(
  store: FakeStore,
  signals: readonly AbortSignal[],
): { readonly promise: Promise<undefined>; readonly stop: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const wakeUp = (): void => {
    resolve(undefined);
  };
  const forget = store.onChange(wakeUp);
  for (const signal of signals) signal.addEventListener('abort', wakeUp);
  return {
    promise,
    stop: () => {
      forget();
      for (const signal of signals) signal.removeEventListener('abort', wakeUp);
    },
  };
}
