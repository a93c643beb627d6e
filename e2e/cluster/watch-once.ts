import { Watch } from '@kubernetes/client-node';
import type { KubeConfig } from '@kubernetes/client-node';

import type { PlainObject } from './kubernetes-client.ts';

/** One watch of a collection. */
export interface WatchRequest {
  /** For example `/api/v1/services`. */
  readonly path: string;
  /** Parameters of the request; without a `resourceVersion` it begins with everything there is. */
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly signal: AbortSignal;
}

/**
 * Reports the events of one watch, until the server or the connection ends it, it is aborted, or it cannot be opened. None
 * of these is an error.
 */
export async function watchOnce(
  config: KubeConfig,
  { path, query = {}, signal }: WatchRequest,
  onEvent: (type: string, object: PlainObject) => void,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const started = new Watch(config).watch(path, query, onEvent, () => {
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
}
