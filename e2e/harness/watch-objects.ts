import { setTimeout as pause } from 'node:timers/promises';

import { Watch } from '@kubernetes/client-node';
import type { KubeConfig } from '@kubernetes/client-node';

import type { PlainObject } from './kubernetes-client.ts';

/** A change that a watch tells. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: PlainObject;
}

/**
 * Tells every object of a collection and every change until aborted; when the connection is lost it starts over and
 * tells all objects again. `onChange` is never called while an earlier call still runs.
 * @param path of the collection, for example `/api/v1/services`.
 * @param onError told when a change could not be handled; the watch goes on.
 */
export async function watchObjects(
  config: KubeConfig,
  path: string,
  onChange: (change: Change) => Promise<void>,
  options: { readonly signal: AbortSignal; readonly onError: (error: unknown) => void },
): Promise<void> {
  const { signal, onError } = options;
  while (!signal.aborted) {
    await watchOnce(config, path, { signal, onError, onChange });
    await pause(300, undefined, { signal }).catch(() => undefined /* aborted */);
  }
}

async function watchOnce(
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
  await new Promise<void>((resolve) => {
    const handle = (type: string, object: PlainObject): void => {
      if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return;
      queue = queue
        .then(() => onChange({ type, object }))
        .catch((error: unknown) => {
          // While the cluster is being removed, failing is no news.
          if (!signal.aborted) onError(error);
        });
    };
    // Without a resourceVersion a watch begins with everything there is. Its end, clean or not, only means: again.
    const started = new Watch(config).watch(path, {}, handle, () => {
      resolve();
    });
    started.then(
      (controller) => {
        const stop = (): void => {
          controller.abort();
          resolve();
        };
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop, { once: true });
      },
      () => {
        // The server does not answer: the caller tries again.
        resolve();
      },
    );
  });
  await queue;
}
