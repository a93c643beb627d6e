import type { Key, Resource } from '../../api/meta.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/cluster.ts';
import type { Informer, InformerSelection } from '../../runtime/informer.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startInformer } from '../../runtime/watching-informer.ts';

/** What the watches work with. */
export interface ObstacleWatchesOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** Asks for a visit of the StewardControlPlane. */
  readonly poke: (controlPlane: Key) => void;
}

/** Objects that a StewardControlPlane waits for to change, or to be gone. */
export type Obstacle = Required<Pick<InformerSelection<Resource>, 'kind' | 'namespace'>> &
  Pick<InformerSelection<Resource>, 'labelSelector' | 'fieldSelector' | 'optional'>;

/**
 * Watches on what stands in a StewardControlPlane's way, for as long as it does: Machines while it is to be deleted, a Secret of
 * somebody else at the name of one of its own. Only that there was a change is told.
 */
export class ObstacleWatches implements AsyncDisposable {
  readonly #options: ObstacleWatchesOptions;
  /** By control plane, then by selection. */
  readonly #watching = new Map<string, Map<string, Informer>>();

  constructor(options: ObstacleWatchesOptions) {
    this.#options = options;
  }

  /** From now on changes of these objects, and of no others, have the StewardControlPlane visited; of none when there are none. */
  follow(controlPlane: Key, obstacles: readonly Obstacle[]): void {
    const before = this.#watching.get(textOf(controlPlane)) ?? new Map<string, Informer>();
    const now = new Map<string, Informer>();
    for (const obstacle of obstacles) {
      const id = identify(obstacle);
      now.set(id, before.get(id) ?? this.#watch(controlPlane, obstacle));
    }
    for (const [id, informer] of before) if (!now.has(id)) this.#end(informer);
    if (now.size === 0) this.#watching.delete(textOf(controlPlane));
    else this.#watching.set(textOf(controlPlane), now);
  }

  /** True when changes are not told, so that the clock has to. */
  isDeaf(controlPlane: Key): boolean {
    const informers = [...(this.#watching.get(textOf(controlPlane))?.values() ?? [])];
    return informers.some((informer) => informer.health().failure !== undefined);
  }

  /** Watches that are open. */
  get size(): number {
    return [...this.#watching.values()].reduce((sum, { size }) => sum + size, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const informers = [...this.#watching.values()].flatMap((each) => [...each.values()]);
    this.#watching.clear();
    await Promise.all(informers.map((informer) => informer.close()));
  }

  #watch(controlPlane: Key, obstacle: Obstacle): Informer {
    const { cluster, clock, log, random, poke } = this.#options;
    const informer = startInformer({ ...obstacle, metadataOnly: true }, { cluster, clock, log, random, transform });
    const tell = (): void => {
      poke(controlPlane);
    };
    informer.subscribe(tell);
    // What went between the look that found it and the first state of the watch is told by nobody else.
    informer.synced.then(tell, () => undefined);
    return informer;
  }

  /** Closing waits for what runs; nothing waits for it. */
  #end(informer: Informer): void {
    informer.close().catch((error: unknown) => {
      this.#options.log.warn('a watch that nobody needs could not be closed', { error });
    });
  }
}

/** Nothing of the objects is used. */
const transform = <T>(object: T): T => object;

const textOf = ({ namespace = '', name }: Key): string => `${namespace}/${name}`;

function identify({ kind, namespace, labelSelector = '', fieldSelector = '' }: Obstacle): string {
  return [kind.group, kind.version, kind.plural, namespace, labelSelector, fieldSelector].join('|');
}
