import { kinds } from '../../../../api/core/kinds.ts';
import type { ConfigMap } from '../../../../api/core/kinds.ts';
import type { Key } from '../../../../api/meta.ts';
import { activatorObjects } from '../../../../api/names.ts';
import type { InformerFactory } from '../../../../runtime/cache/informer-factory.ts';
import type { InformerSelection } from '../../../../runtime/cache/informer.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import type { Watch } from '../../../../runtime/reconcile/controller.ts';

/** A request that is older says nothing about who waits now: the activator repeats it every few seconds. In milliseconds. */
const freshMs = 120_000;

const entryOf = ({ namespace = '', name }: Key): string => `${namespace}.${name}`;

/** The TenantControlPlane of an entry; namespaces have no dots. */
function keyOf(entry: string): Key {
  const dot = entry.indexOf('.');
  return { namespace: entry.slice(0, Math.max(dot, 0)), name: entry.slice(dot + 1) };
}

const selection = (namespace: string): InformerSelection<ConfigMap> => ({
  kind: kinds.ConfigMap,
  namespace,
  fieldSelector: `metadata.name=${activatorObjects.wakeRequests}`,
});

/** The TenantControlPlanes that an activator requests to wake up. */
export function wakeRequestWatch(namespace: string): Watch<ConfigMap> {
  return {
    ...selection(namespace),
    keys: (old, now) =>
      Object.entries(now?.data ?? {})
        .filter(([entry, time]) => old?.data?.[entry] !== time)
        .map(([entry]) => keyOf(entry)),
  };
}

/** What activators request in the namespace of the manager. */
export class WakeRequestsOf {
  readonly #cluster: Cluster;
  readonly #informers: Pick<InformerFactory, 'informer'>;
  readonly #namespace: string;

  constructor(parts: {
    readonly cluster: Cluster;
    readonly informers: Pick<InformerFactory, 'informer'>;
    readonly namespace: string;
  }) {
    this.#cluster = parts.cluster;
    this.#informers = parts.informers;
    this.#namespace = parts.namespace;
  }

  /** True if somebody called the TenantControlPlane a moment ago, and waits for it. */
  isCalled(tcp: Key, now: Date): boolean {
    const time = this.#entries()[entryOf(tcp)];
    return time !== undefined && isFresh(time, now);
  }

  /** Removes the request of a TenantControlPlane that is awake or is not to wake up, and all old ones. */
  async clear(tcp: Key, now: Date, signal: AbortSignal): Promise<void> {
    const entries = this.#entries();
    if (entries[entryOf(tcp)] === undefined) return;
    const ended = Object.entries(entries).filter(([entry, time]) => entry === entryOf(tcp) || !isFresh(time, now));
    const data = Object.fromEntries(ended.map(([entry]) => [entry, null]));
    const key = { namespace: this.#namespace, name: activatorObjects.wakeRequests };
    await this.#cluster.patch(kinds.ConfigMap, key, { type: 'merge', body: { data } }, { signal });
  }

  #entries(): Readonly<Record<string, string>> {
    if (this.#namespace === '') return {};
    const key = { namespace: this.#namespace, name: activatorObjects.wakeRequests };
    return this.#informers.informer(selection(this.#namespace)).get(key)?.data ?? {};
  }
}

/** The clocks of two machines may differ: a time in the future counts. */
function isFresh(time: string, now: Date): boolean {
  return now.getTime() - Date.parse(time) < freshMs;
}
