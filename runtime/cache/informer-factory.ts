import type { KindRef, Resource } from '../../api/meta.ts';
import { systemClock, type Clock } from '../clock.ts';
import type { Cluster } from '../client/cluster.ts';
import type { Informer, InformerSelection } from './informer.ts';
import { silent, type Logger } from '../observe/logger.ts';
import { stripNoise } from './strip-noise.ts';
import { startInformer, type InformerTools } from './watching-informer.ts';

export interface InformerFactoryOptions {
  readonly cluster: Cluster;
  readonly log?: Logger;
  readonly clock?: Clock;
  /** In [0, 1): spreads retries. */
  readonly random?: () => number;
  /** What is kept of an object; `stripNoise` by default. */
  readonly transform?: <T extends Resource>(object: T) => T;
}

/** An informer, and whether its API may be absent. */
interface Started {
  readonly informer: Informer;
  readonly optional: boolean;
}

/** The informers of one cluster: at most one watch per kind and selection, for any number of users. */
export class InformerFactory {
  readonly #tools: InformerTools;
  readonly #informers = new Map<string, Started>();

  constructor(options: InformerFactoryOptions) {
    this.#tools = {
      cluster: options.cluster,
      log: options.log ?? silent,
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
      transform: options.transform ?? stripNoise,
    };
  }

  /**
   * The informer of this selection; the first call starts it. Throws when its users do not agree about whether its API may be absent: with
   * an informer for each of them, the event of one would be handled while the other does not have the object yet.
   */
  informer<T extends Resource>(selection: InformerSelection<T>): Informer<T> {
    const id = identify(selection);
    const known = this.#informers.get(id);
    const { kind, optional = false } = selection;
    if (known !== undefined) {
      if (known.optional !== optional) {
        throw new Error(`the API of ${kind.plural} may be absent for one user of its informer, and not for another`);
      }
      // The identity holds the kind, so the objects are of its type.
      return known.informer as Informer<T>;
    }
    const started =
      selection.identityOnly === true
        ? startInformer({ ...selection, metadataOnly: true }, { ...this.#tools, transform: identityOf })
        : startInformer(selection, this.#tools);
    this.#informers.set(id, { informer: started, optional });
    return started;
  }

  /** Every informer started so far. */
  all(): readonly Informer[] {
    return [...this.#informers.values()].map(({ informer }) => informer);
  }

  /** Resolves when all informers started so far are complete; rejects when one is closed before. */
  async synced(): Promise<void> {
    await Promise.all(this.all().map((informer) => informer.synced));
  }

  /** APIs of this group (or of any) may have appeared: informers whose API was absent check at once. */
  lookAgain(group?: string): void {
    for (const informer of this.all()) {
      if (group === undefined || informer.kind.group === group) informer.lookAgain();
    }
  }

  /** Ends all watches and resolves when they have ended. */
  async close(): Promise<void> {
    await Promise.all(this.all().map((informer) => informer.close()));
    this.#informers.clear();
  }
}

/** What distinguishes one object and its states from others. */
function identityOf<T extends Resource>(object: T): T {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return { ...object, metadata: { namespace, name, uid, resourceVersion } };
}

function identify<T extends Resource>(selection: InformerSelection<T>): string {
  const {
    kind,
    namespace,
    labelSelector,
    fieldSelector,
    metadataOnly = false,
    identityOnly = false,
    maxObjects,
  } = selection;
  const { group, version, plural }: KindRef = kind;
  return JSON.stringify([
    group,
    version,
    plural,
    namespace,
    labelSelector,
    fieldSelector,
    metadataOnly,
    identityOnly,
    maxObjects,
  ]);
}
