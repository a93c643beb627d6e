import { kinds, type Lease } from '../../api/core/kinds.ts';
import type { Key } from '../../api/meta.ts';
import type { Cluster } from '../client/cluster.ts';
import { ApiError } from '../client/errors.ts';

export interface SharedRecordOptions<T> {
  readonly cluster: Cluster;
  /** The Lease whose annotation has the record: a manager may write Leases of its namespace, and nothing watches this one. */
  readonly lease: Required<Key>;
  readonly annotation: string;
  /** Of what is stored; undefined when nothing is. */
  readonly parse: (text: string | undefined) => T;
  readonly print: (record: T) => string;
}

/** What a change leads to. */
export interface Changed<T, R> {
  readonly result: R;
  /** The record from now on; absent: it stays. */
  readonly next?: T;
}

/** A small record that several processes change one after the other: a change that was made of a former state is made again. */
export class SharedRecord<T> {
  readonly #options: SharedRecordOptions<T>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: SharedRecordOptions<T>) {
    this.#options = options;
  }

  /** Changes the record; `change` is called again if another process was faster. Changes of this process wait for each other. */
  update<R>(change: (record: T) => Promise<Changed<T, R>>, signal: AbortSignal): Promise<R> {
    const mine = this.#last.then(() => this.#update(change, signal));
    // The next one does not depend on how this one ends; its own caller gets the error.
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  async #update<R>(change: (record: T) => Promise<Changed<T, R>>, signal: AbortSignal): Promise<R> {
    const { cluster, lease, annotation, parse, print } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const stored = await cluster.get(kinds.Lease, lease, { signal });
      const before = stored?.metadata.annotations?.[annotation];
      const { result, next } = await change(parse(before));
      const text = next === undefined ? before : print(next);
      if (text === undefined || text === before || (await this.#store(stored, text, signal))) return result;
    }
  }

  /** False if somebody else has changed it. */
  async #store(before: Lease | undefined, text: string, signal: AbortSignal): Promise<boolean> {
    const { cluster, lease, annotation } = this.#options;
    const annotations = { [annotation]: text };
    try {
      if (before === undefined) {
        const metadata = { ...lease, annotations };
        const manifest = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} };
        await cluster.create(kinds.Lease, manifest, { signal });
      } else {
        const body = { metadata: { annotations, resourceVersion: before.metadata.resourceVersion } };
        await cluster.patch(kinds.Lease, lease, { type: 'merge', body }, { signal });
      }
      return true;
    } catch (error) {
      if (error instanceof ApiError && (error.code === 409 || error.code === 404)) return false;
      throw error;
    }
  }
}
