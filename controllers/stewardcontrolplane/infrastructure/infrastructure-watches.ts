import { kinds } from '../../../api/core/kinds.ts';
import type { Key, KindRef, Resource } from '../../../api/meta.ts';
import { managedByAnnotation } from '../../../api/cluster-api/names.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { detached } from '../../../runtime/detached.ts';
import type { Informer, InformerSelection } from '../../../runtime/cache/informer.ts';
import type { Logger } from '../../../runtime/observe/logger.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import { startInformer } from '../../../runtime/cache/watching-informer.ts';
import type { Follower } from './follower.ts';
import type { InfrastructureCluster } from './infrastructure-patch.ts';

/** What the watches work with. */
export interface InfrastructureWatchesOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** A StewardControlPlane that goes waits for nothing anymore. */
  readonly memory: ObjectMemory;
  /** Follow infrastructure clusters of this namespace only; all of them when empty. */
  readonly namespace: string;
  /** Enqueues the StewardControlPlane. */
  readonly enqueue: (controlPlane: Key) => void;
}

/** What a StewardControlPlane depends on. */
export interface Followed {
  /** Name of the definition of its infrastructure cluster's kind. */
  readonly definition: string;
  /** The infrastructure cluster, once its kind is known. */
  readonly object?: { readonly kind: KindRef; readonly key: Key };
}

interface Watching {
  readonly informer: Informer;
  /** StewardControlPlanes that wait for an object, by their UIDs, by the object's key. */
  readonly waiting: Map<string, Map<string, Key>>;
}

const textOf = ({ namespace = '', name }: Key): string => `${namespace}/${name}`;

/**
 * Watches on infrastructure clusters. Their kinds are known only once Clusters name them: a watch begins with the first
 * StewardControlPlane that depends on a kind and ends with the last. Of an object only what decides about the endpoint is
 * kept, and only a change of that enqueues, for providers write their status often.
 */
export class InfrastructureWatches implements AsyncDisposable {
  readonly #options: InfrastructureWatchesOptions;
  readonly #watching = new Map<string, Watching>();
  /** The places at which a StewardControlPlane waits: identity of the watch and key of the object. */
  readonly #places: ObjectSlot<ReadonlyMap<string, string>>;

  constructor(options: InfrastructureWatchesOptions) {
    this.#options = options;
    this.#places = options.memory.slot('infrastructure clusters', {
      dispose: (before, uid) => {
        this.#leave(uid, before);
      },
    });
  }

  /** From now on these changes, and no others, enqueue the StewardControlPlane. */
  follow(controlPlane: Follower, { definition, object }: Followed): void {
    const definitions = kinds.CustomResourceDefinition;
    const places = new Map<string, string>();
    const metadata = { kind: definitions, fieldSelector: `metadata.name=${definition}`, metadataOnly: true };
    places.set(this.#wait(controlPlane, metadata, { name: definition }), textOf({ name: definition }));
    if (object !== undefined) {
      const { namespace } = this.#options;
      const selection = { kind: object.kind, ...(namespace === '' ? {} : { namespace }) };
      places.set(this.#wait(controlPlane, selection, object.key), textOf(object.key));
    }
    this.#places.set(controlPlane.uid, places);
  }

  /** The StewardControlPlane depends on nothing anymore. */
  leave(uid: string): void {
    this.#places.delete(uid);
  }

  /** Why changes of a kind are not reported, as text; undefined when they are. */
  watchFailure(kind: KindRef): string | undefined {
    const { namespace } = this.#options;
    const found = this.#watching.get(identify({ kind, ...(namespace === '' ? {} : { namespace }) }));
    return found?.informer.health().failure;
  }

  /** Resource names of the kinds that are watched, for tests and people. */
  watched(): readonly string[] {
    return [...this.#watching.values()].map(({ informer }) => informer.kind.plural);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#watching.values()].map(({ informer }) => informer.close()));
    this.#watching.clear();
    this.#places.clear();
  }

  #wait({ uid, key }: Follower, selection: InformerSelection<Resource>, object: Key): string {
    const id = identify(selection);
    const watching = this.#watching.get(id) ?? this.#watch(id, selection);
    const waiting = watching.waiting.get(textOf(object)) ?? new Map<string, Key>();
    waiting.set(uid, key);
    watching.waiting.set(textOf(object), waiting);
    return id;
  }

  #watch(id: string, selection: InformerSelection<Resource>): Watching {
    const { cluster, clock, log, random, enqueue } = this.#options;
    const informer = startInformer(selection, { cluster, clock, log, random, transform: whatMatters });
    const waiting: Watching['waiting'] = new Map();
    informer.subscribe((old, now) => {
      const { namespace, name = '' } = (now ?? old)?.metadata ?? {};
      if (old !== undefined && now !== undefined && isSame(old, now)) return;
      const key = { name, namespace };
      for (const controlPlane of waiting.get(textOf(key))?.values() ?? []) enqueue(controlPlane);
    });
    const watching = { informer, waiting };
    this.#watching.set(id, watching);
    return watching;
  }

  /** Removes a StewardControlPlane from all watches but those in `stays`, and ends watches that are no longer used. */
  #leave(uid: string, before: ReadonlyMap<string, string>): void {
    const stays = this.#places.get(uid);
    for (const [id, object] of before) {
      if (stays?.get(id) === object) continue;
      const watching = this.#watching.get(id);
      const waiting = watching?.waiting.get(object);
      waiting?.delete(uid);
      if (waiting?.size === 0) watching?.waiting.delete(object);
      if (watching?.waiting.size !== 0) continue;
      this.#watching.delete(id);
      // Its last request ends with it; nothing waits for that.
      detached(watching.informer.close(), this.#options.log, 'closing a watch of an infrastructure cluster');
    }
  }
}

function identify({ kind, fieldSelector = '' }: InformerSelection<Resource>): string {
  return [kind.group, kind.version, kind.plural, fieldSelector].join('|');
}

/** What of an object decides about the next step. */
function whatMatters<T extends Resource>(object: T): T {
  const { namespace, name, uid, labels, annotations, deletionTimestamp, resourceVersion } = object.metadata;
  const managedBy = annotations?.[managedByAnnotation];
  const { spec, status } = object as InfrastructureCluster;
  const { controlPlaneEndpoint, apiServerFixedIP, apiServerPort } = spec ?? {};
  const { ready, initialization } = status ?? {};
  const metadata = {
    namespace,
    ...{ name, uid, labels, deletionTimestamp, resourceVersion },
    ...(managedBy === undefined ? {} : { annotations: { [managedByAnnotation]: managedBy } }),
  };
  return {
    ...{ apiVersion: object.apiVersion, kind: object.kind, metadata },
    spec: { controlPlaneEndpoint, apiServerFixedIP, apiServerPort },
    status: { ready, initialization },
  } as unknown as T;
}

function isSame(old: Resource, now: Resource): boolean {
  const text = (object: Resource): string =>
    JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: '' } });
  return text(old) === text(now);
}
