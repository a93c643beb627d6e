import type { Key, Resource } from '../../../api/meta.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { Informer, InformerSelection } from '../../../runtime/cache/informer.ts';
import type { Logger } from '../../../runtime/observe/logger.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import { startInformer } from '../../../runtime/cache/watching-informer.ts';
import type { Follower } from './follower.ts';

/** What the watches work with. */
export interface BlockerWatchesOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** A StewardControlPlane that goes waits for nothing anymore. */
  readonly memory: ObjectMemory;
  /** Enqueues the StewardControlPlane. */
  readonly enqueue: (controlPlane: Key) => void;
}

/** Objects that a StewardControlPlane waits for to change, or to be gone. */
export type Blocker = Required<Pick<InformerSelection<Resource>, 'kind' | 'namespace'>> &
  Pick<InformerSelection<Resource>, 'labelSelector' | 'fieldSelector' | 'optional'>;

/**
 * Watches on objects that block a StewardControlPlane, while they do: Machines during its deletion, a Secret of someone
 * else with the name of one of its own. Only the fact of a change is reported.
 */
export class BlockerWatches implements AsyncDisposable {
  readonly #options: BlockerWatchesOptions;
  /** Of each control plane, by selection. */
  readonly #watching: ObjectSlot<ReadonlyMap<string, Informer>>;
  readonly #closing = new Set<Promise<void>>();

  constructor(options: BlockerWatchesOptions) {
    this.#options = options;
    this.#watching = options.memory.slot('obstacles', {
      dispose: (before, uid) => {
        const now = this.#watching.get(uid);
        for (const [id, informer] of before) if (now?.get(id) !== informer) this.#end(informer);
      },
    });
  }

  /** From now on changes of these objects, and of no others, enqueue the StewardControlPlane; of none when there are none. */
  follow(controlPlane: Follower, blockers: readonly Blocker[]): void {
    const before = this.#watching.get(controlPlane.uid);
    const now = new Map<string, Informer>();
    for (const blocker of blockers) {
      const id = identify(blocker);
      now.set(id, before?.get(id) ?? this.#watch(controlPlane.key, blocker));
    }
    if (now.size === 0) this.#watching.delete(controlPlane.uid);
    else this.#watching.set(controlPlane.uid, now);
  }

  /** True when changes are not reported, so that it has to be requeued. */
  isUnwatched({ uid }: Follower): boolean {
    const informers = [...(this.#watching.get(uid)?.values() ?? [])];
    return informers.some((informer) => informer.health().failure !== undefined);
  }

  /** Watches that are open. */
  get size(): number {
    return this.#watching.entries().reduce((sum, [, { size }]) => sum + size, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watching.clear();
    await Promise.all(this.#closing);
  }

  #watch(controlPlane: Key, blocker: Blocker): Informer {
    const { cluster, clock, log, random, enqueue } = this.#options;
    const informer = startInformer({ ...blocker, metadataOnly: true }, { cluster, clock, log, random, transform });
    const changed = (): void => {
      enqueue(controlPlane);
    };
    informer.subscribe(changed);
    // What was deleted between the read that found it and the first state of the watch is reported by nothing else.
    informer.synced.then(changed, () => undefined);
    return informer;
  }

  /** Closing waits for what runs; nothing waits for it. */
  #end(informer: Informer): void {
    const closing = informer
      .close()
      .catch((error: unknown) => {
        this.#options.log.warn('an unused watch could not be closed', { error });
      })
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

/** Nothing of the objects is used. */
const transform = <T>(object: T): T => object;

function identify({ kind, namespace, labelSelector = '', fieldSelector = '' }: Blocker): string {
  return [kind.group, kind.version, kind.plural, namespace, labelSelector, fieldSelector].join('|');
}
