import { setTimeout as pause } from 'node:timers/promises';

import type { KubernetesClient, PlainObject } from '../../cluster/kubernetes-client.ts';
import { watchOnce } from '../../cluster/watch-once.ts';

/** What one who watches ConfigMaps has seen. */
export interface WatchReport {
  /** How often the server or the line ended the watch. */
  readonly interruptions: number;
  /** How often the place to go on from was not known anymore, so that all had to be listed again. */
  readonly relists: number;
  readonly events: number;
  /** Objects whose last version was not told. */
  readonly missed: readonly string[];
  /** Longest time from the end of a watch to the begin of the next one, in milliseconds. */
  readonly longestGapMs: number;
}

/** Watches the ConfigMaps of a namespace as an informer does: goes on after the last version it was told. */
export class WatchWitness implements AsyncDisposable {
  readonly #client: KubernetesClient;
  readonly #path: string;
  readonly #stop = new AbortController();
  readonly #told = new Map<string, string>();
  #working: Promise<void> = Promise.resolve();
  #interruptions = 0;
  #relists = 0;
  #events = 0;
  #longestGapMs = 0;

  constructor(client: KubernetesClient, namespace: string) {
    this.#client = client;
    this.#path = `/api/v1/namespaces/${namespace}/configmaps`;
  }

  /** Lists, and begins to watch. */
  async start(): Promise<void> {
    const from = await this.#list();
    this.#working = this.#follow(from);
  }

  /** Waits until the watch has told the present state, for at most ten seconds, and says what was seen. */
  async stop(): Promise<WatchReport> {
    const deadline = performance.now() + 10_000;
    let missed = await this.#missed();
    while (missed.length > 0 && performance.now() < deadline) {
      await pause(200);
      missed = await this.#missed();
    }
    this.#stop.abort();
    await this.#working;
    return {
      interruptions: this.#interruptions,
      relists: this.#relists,
      events: this.#events,
      missed,
      longestGapMs: this.#longestGapMs,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#working;
  }

  async #follow(first: string): Promise<void> {
    const { signal } = this.#stop;
    for (let from: string | undefined = first; !signal.aborted;) {
      from ??= await this.#list().catch(() => undefined /* no answer: again, as after a watch that ended */);
      if (from !== undefined) from = await this.#watchOnce(from);
      if (this.#stop.signal.aborted) return;
      const ended = performance.now();
      this.#interruptions += 1;
      // client-go waits 0.8 s and longer before it watches again after a failure; most ends are none.
      await pause(100, undefined, { signal }).catch(() => undefined /* aborted */);
      this.#longestGapMs = Math.max(this.#longestGapMs, performance.now() - ended);
    }
  }

  /** The version to go on from; undefined when it is too old to go on from. */
  async #watchOnce(from: string): Promise<string | undefined> {
    let last: string | undefined = from;
    const onEvent = (type: string, object: PlainObject): void => {
      if (type === 'ERROR') {
        this.#relists += 1;
        last = undefined;
      } else if (last !== undefined) {
        last = versionOf(object);
        if (type !== 'BOOKMARK') this.#notify(object);
      }
    };
    const query = { resourceVersion: from, allowWatchBookmarks: true };
    await watchOnce(this.#client.config, { path: this.#path, query, signal: this.#stop.signal }, onEvent);
    return last;
  }

  #notify(object: PlainObject): void {
    this.#events += 1;
    this.#told.set(object.metadata?.name ?? '', versionOf(object));
  }

  async #list(): Promise<string> {
    const list = await this.#read();
    for (const item of list.items) this.#told.set(item.metadata?.name ?? '', versionOf(item));
    return list.metadata.resourceVersion;
  }

  async #missed(): Promise<readonly string[]> {
    const { items } = await this.#read();
    return items
      .map((item) => [item.metadata?.name ?? '', versionOf(item)] as const)
      .filter(([name, version]) => this.#told.get(name) !== version)
      .map(([name, version]) => `${name}: ${this.#told.get(name) ?? 'never told'}, not ${version}`);
  }

  #read(): Promise<{
    readonly metadata: { readonly resourceVersion: string };
    readonly items: readonly PlainObject[];
  }> {
    return this.#client.connection.send({ method: 'GET', path: this.#path });
  }
}

function versionOf({ metadata }: PlainObject): string {
  return (metadata as { readonly resourceVersion?: string } | undefined)?.resourceVersion ?? '';
}
