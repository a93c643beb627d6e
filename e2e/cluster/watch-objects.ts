import { setTimeout as pause } from 'node:timers/promises';

import type { KubeConfig } from '@kubernetes/client-node';

import type { PlainObject } from './kubernetes-client.ts';
import { watchOnce } from './watch-once.ts';

/** A change that a watch reports. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: PlainObject;
}

/**
 * Reports every object of a collection and every change until aborted; when the connection is lost it starts over and
 * reports all objects again. `onChange` is never called while an earlier call still runs.
 * @param path of the collection, for example `/api/v1/services`.
 * @param onError called when a change could not be handled; the watch continues.
 */
export async function watchObjects(
  config: KubeConfig,
  path: string,
  onChange: (change: Change) => Promise<void>,
  options: { readonly signal: AbortSignal; readonly onError: (error: unknown) => void },
): Promise<void> {
  const { signal, onError } = options;
  while (!signal.aborted) {
    await watchChanges(config, path, { signal, onError, onChange });
    await pause(300, undefined, { signal }).catch(() => undefined /* aborted */);
  }
}

async function watchChanges(
  config: KubeConfig,
  path: string,
  handlers: {
    readonly signal: AbortSignal;
    readonly onError: (error: unknown) => void;
    readonly onChange: (change: Change) => Promise<void>;
  },
): Promise<void> {
  const { signal, onChange, onError } = handlers;
  let queue = Promise.resolve();
  const handle = (type: string, object: PlainObject): void => {
    if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return;
    queue = queue
      .then(() => onChange({ type, object }))
      .catch((error: unknown) => {
        // While the cluster is being removed, failing is no news.
        if (!signal.aborted) onError(error);
      });
  };
  // Its end, clean or not, only means: again.
  await watchOnce(config, { path, signal }, handle);
  await queue;
}
