import type { Key, KindRef, Resource } from '../../../api/meta.ts';
import { ApiError, UnreachableError } from '../../../runtime/client/errors.ts';
import { sleep } from '../../../runtime/clock.ts';
import type { ManagementCluster } from '../connect/management-cluster.ts';
import { exitCodes } from '../frame/exit-codes.ts';
import { PluginError } from '../frame/plugin-error.ts';
import type { World } from '../frame/world.ts';
import { oneLine } from '../output/one-line.ts';

/** How far a change is. The line is for a person. */
export interface Progress {
  readonly state: 'waiting' | 'done' | 'failed';
  readonly line: string;
}

const retryMs = 1_000;

/**
 * Watches an object until `progressOf` says that a change is done, and prints each line that differs from the one before. Lost
 * connections are made again: an API server may be replaced in the meantime.
 * @throws PluginError if the change failed, was not done in time, or if the object is gone.
 */
export async function followObject<T extends Resource>(
  kind: KindRef<T>,
  key: Key,
  progressOf: (object: T) => Progress,
  { management, world }: { readonly management: ManagementCluster; readonly world: World },
): Promise<T> {
  const { cluster, signal } = management;
  let last = '';
  const gone = (): PluginError => new PluginError(`${kind.kind} ${key.name} no longer exists`, exitCodes.absent);
  const show = (line: string): void => {
    if (line !== last) world.note(`${key.name}: ${line}`);
    last = line;
  };
  try {
    for (;;) {
      const done = await watchOnce();
      if (done !== undefined) return done;
    }
  } catch (error) {
    const isLate = signal.aborted && error === signal.reason && error instanceof PluginError;
    if (!isLate || last === '') throw error;
    throw new PluginError(`${error.message}; last seen: ${last}`, error.exitCode, { cause: error });
  }

  async function watchOnce(): Promise<T | undefined> {
    try {
      let isThere = false;
      const place = key.namespace === undefined ? {} : { namespace: key.namespace };
      const selection = { ...place, fieldSelector: `metadata.name=${key.name}`, signal };
      for await (const event of cluster.watch(kind, selection)) {
        if (event.type === 'DELETED' || (event.type === 'SYNC' && !isThere)) throw gone();
        if (!('object' in event)) continue;
        isThere = true;
        const { state, line: text } = progressOf(event.object);
        const line = oneLine(text);
        if (state === 'failed') throw new PluginError(line);
        show(line);
        if (state === 'done') return event.object;
      }
    } catch (error) {
      if (!canPass(error) || signal.aborted) throw error;
      show(`the connection was lost; connecting again: ${error.message}`);
    }
    await sleep(world.clock, retryMs, signal);
    return undefined;
  }
}

function canPass(error: unknown): error is Error {
  if (error instanceof UnreachableError) return true;
  return error instanceof ApiError && (error.code >= 500 || error.code === 429 || error.code === 410);
}
