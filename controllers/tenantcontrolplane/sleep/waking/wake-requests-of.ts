import { kinds } from '../../../../api/core/kinds.ts';
import type { ConfigMap } from '../../../../api/core/kinds.ts';
import type { Key } from '../../../../api/meta.ts';
import { activatorObjects, annotations } from '../../../../api/names.ts';
import { isAsleep } from '../../../../api/steward/v1alpha1/sleep/is-asleep.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InformerFactory } from '../../../../runtime/cache/informer-factory.ts';
import type { InformerSelection } from '../../../../runtime/cache/informer.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import type { Watch } from '../../../../runtime/reconcile/controller.ts';
import { isWakeable } from './is-wakeable.ts';
import { wakesOnRequest } from './wakes-on-request.ts';

type Informers = Pick<InformerFactory, 'informer'>;

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

/**
 * The TenantControlPlanes that an activator requests to wake up, unless a request has no effect: whoever can reach an endpoint repeats it every
 * few seconds.
 */
export function wakeRequestWatch(namespace: string, informers: Informers): Watch<ConfigMap> {
  return {
    ...selection(namespace),
    keys: (old, now) => {
      const tenants = informers.informer({ kind: tenantControlPlane });
      return Object.entries(now?.data ?? {}).flatMap(([entry, time]) => {
        const before = old?.data?.[entry];
        const key = keyOf(entry);
        return before !== time && hasEffect(tenants.get(key), before === undefined) ? [key] : [];
      });
    },
  };
}

/** True if a request may change something, as far as a watch has seen the TenantControlPlane. */
function hasEffect(tcp: TenantControlPlane | undefined, isFirst: boolean): boolean {
  if (tcp === undefined || tcp.metadata.annotations?.[annotations.paused] !== undefined) return false;
  // One that seems to be awake may be falling asleep.
  return isAsleep(tcp) ? isWakeable(tcp) : isFirst && wakesOnRequest(tcp);
}

/** A request, and when this process saw it. */
interface Seen {
  readonly time: string;
  /** On the monotonic clock. */
  readonly at: number;
  /** True for one that was there when this process began to look, which may be old. */
  readonly wasThere: boolean;
}

/**
 * What activators request in the namespace of the manager. Their clocks may differ from this one: a request is as old as this process has
 * known it. Only one that was there when it began to look has no other age than its own time says.
 */
export class WakeRequestsOf {
  readonly #cluster: Cluster;
  readonly #informers: Informers;
  readonly #namespace: string;
  readonly #clock: Clock;
  #seen: ReadonlyMap<string, Seen> | undefined;
  /** What `#seen` was made of. */
  #data: ConfigMap['data'];
  #isSubscribed = false;

  constructor(parts: {
    readonly cluster: Cluster;
    readonly informers: Informers;
    readonly namespace: string;
    readonly clock: Clock;
  }) {
    this.#cluster = parts.cluster;
    this.#informers = parts.informers;
    this.#namespace = parts.namespace;
    this.#clock = parts.clock;
  }

  /** True if somebody called the TenantControlPlane a moment ago, and waits for it. */
  isCalled(tcp: Key, now: Date): boolean {
    const seen = this.#look().get(entryOf(tcp));
    return seen !== undefined && this.#isFresh(seen, now);
  }

  /** Removes the request of a TenantControlPlane that is awake or is not to wake up, and all old ones. */
  async clear(tcp: Key, now: Date, signal: AbortSignal): Promise<void> {
    const seen = this.#look();
    if (!seen.has(entryOf(tcp))) return;
    const ended = [...seen].filter(([entry, one]) => entry === entryOf(tcp) || !this.#isFresh(one, now));
    const data = Object.fromEntries(ended.map(([entry]) => [entry, null]));
    await this.#cluster.patch(kinds.ConfigMap, this.#key, { type: 'merge', body: { data } }, { signal });
  }

  get #key(): { readonly namespace: string; readonly name: string } {
    return { namespace: this.#namespace, name: activatorObjects.wakeRequests };
  }

  #isFresh({ time, at, wasThere }: Seen, now: Date): boolean {
    if (this.#clock.monotonic() - at >= freshMs) return false;
    return !wasThere || Math.abs(now.getTime() - Date.parse(time)) < freshMs;
  }

  /** The requests that are there. */
  #look(): ReadonlyMap<string, Seen> {
    if (this.#namespace === '') return new Map();
    const informer = this.#informers.informer(selection(this.#namespace));
    const note = (): void => {
      this.#note(informer.get(this.#key)?.data, informer.health().synced);
    };
    note();
    if (!this.#isSubscribed) {
      this.#isSubscribed = true;
      // What comes while nobody asks has an age as well.
      informer.subscribe(note);
    }
    return this.#seen ?? new Map();
  }

  #note(data: ConfigMap['data'], isSynced: boolean): void {
    if (this.#seen !== undefined && data !== undefined && data === this.#data) return;
    const before = this.#seen;
    const at = this.#clock.monotonic();
    const wasThere = before === undefined || !isSynced;
    const seen = Object.entries(data ?? {}).map(([entry, time]): readonly [string, Seen] => {
      const known = before?.get(entry);
      return [entry, known?.time === time ? known : { time, at, wasThere }];
    });
    this.#seen = new Map(seen);
    this.#data = data;
  }
}
