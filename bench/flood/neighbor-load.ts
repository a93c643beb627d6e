import { setTimeout as pause } from 'node:timers/promises';

import type { KubernetesClient } from '../../e2e/cluster/kubernetes-client.ts';

/** Of each of writes and reads. */
const callsPerSecond = 10;

/** ConfigMaps that are written in turn. */
const registers = 10;

const namespace = 'default';

/** A call of the neighbor. `at` is when it began, by the clock in milliseconds. */
interface Call {
  readonly is: 'write' | 'read';
  readonly at: number;
  readonly ms: number;
  readonly failure?: string;
}

/** What the neighbor saw in a time. */
export interface CallsSeen {
  readonly writesMs: readonly number[];
  readonly readsMs: readonly number[];
  readonly failed: readonly string[];
}

/** A tenant that is used steadily: ten writes and ten reads a second, which do not wait for each other. */
export class NeighborLoad implements AsyncDisposable {
  readonly #client: KubernetesClient;
  readonly #stop = new AbortController();
  readonly #calls: Call[] = [];
  #working: Promise<unknown> = Promise.resolve();

  constructor(client: KubernetesClient) {
    this.#client = client;
  }

  /** Makes what is read and written, and begins. */
  async start(): Promise<void> {
    await this.#client.apply(
      Array.from({ length: registers }, (_, at) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: registerName(at), namespace },
        data: { count: '0' },
      })),
    );
    this.#working = Promise.all([
      this.#repeat((count) =>
        this.#call('write', () =>
          this.#client.connection.send({
            method: 'PATCH',
            path: pathOf(count),
            contentType: 'application/merge-patch+json',
            body: { data: { count: String(count) } },
          }),
        ),
      ),
      this.#repeat((count) =>
        this.#call('read', () => this.#client.connection.send({ method: 'GET', path: pathOf(count) })),
      ),
    ]);
  }

  /** Resolves when all calls have ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#working;
  }

  /** Answered calls that began between two times, and failed ones until `failedUntil`. Only after the end all are known. */
  between(from: number, to: number, failedUntil = to): CallsSeen {
    const within = this.#calls.filter(({ at }) => at >= from && at < failedUntil);
    const answered = (wanted: Call['is']): readonly number[] =>
      within
        .filter(({ is, at, failure }) => is === wanted && at < to && failure === undefined)
        .map(({ ms }) => Math.round(ms));
    const failed = within.flatMap(({ is, at, failure }) =>
      failure === undefined ? [] : [`${((at - from) / 1000).toFixed(1)} s: ${is}: ${failure}`],
    );
    return { writesMs: answered('write'), readsMs: answered('read'), failed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #repeat(act: (count: number) => Promise<void>): Promise<void> {
    const calls: Promise<void>[] = [];
    const began = performance.now();
    for (let count = 0; !this.#stop.signal.aborted; count += 1) {
      calls.push(act(count));
      const due = began + ((count + 1) * 1000) / callsPerSecond;
      await pause(Math.max(due - performance.now(), 0), undefined, { signal: this.#stop.signal }).catch(
        () => undefined /* aborted */,
      );
    }
    await Promise.all(calls);
  }

  async #call(is: Call['is'], send: () => Promise<unknown>): Promise<void> {
    const at = Date.now();
    const began = performance.now();
    const failure = await send().then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );
    this.#calls.push({ is, at, ms: performance.now() - began, ...(failure !== undefined && { failure }) });
  }
}

const registerName = (at: number): string => `register-${at % registers}`;

const pathOf = (count: number): string => `/api/v1/namespaces/${namespace}/configmaps/${registerName(count)}`;
