import type { Applied } from '../../../runtime/apply/apply-memory.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import { BoundedCache } from '../../sources/bounded-cache.ts';
import { Pauses } from './pauses.ts';
import { RenderedStages } from './stages/rendered-stages.ts';
import { StatusEcho } from './status-echo.ts';

/** How often objects are checked although no watch reports a change, in milliseconds. */
export const driftMs = 10 * 60_000;

/** Expanded values of all ClusterAddons that are kept, in characters. */
const mostValues = 4 * 1024 * 1024;

/** What is remembered of one ClusterAddon, only to spare work: without it everything is done once more, to the same end. */
export interface AddonMemory {
  readonly uid: string;
  readonly applied: Map<string, Applied>;
  /** Objects that the pass under way has seen in place, and when in milliseconds: the next reconcile continues after them. */
  readonly passed: Map<string, number>;
  readonly pauses: Pauses;
  readonly echo: StatusEcho;
  /** Of all ClusterAddons. */
  readonly rendered: RenderedStages;
  /** Expanded values templates of all ClusterAddons, by a hash over template and root. */
  readonly values: BoundedCache<string>;
  /** When all objects were last seen to be as they should, in milliseconds. */
  keptAt?: number;
}

/** Memories by the UID of their ClusterAddon. */
export class AddonMemories {
  readonly #random: () => number;
  readonly #memories: ObjectSlot<AddonMemory>;
  readonly #rendered: RenderedStages;
  readonly #values = new BoundedCache<string>(mostValues);

  constructor(random: () => number, memory: ObjectMemory) {
    this.#random = random;
    this.#memories = memory.slot('ClusterAddons');
    this.#rendered = new RenderedStages(memory);
  }

  of(uid: string): AddonMemory {
    return this.#memories.getOrMake(uid, () => ({
      uid,
      applied: new Map(),
      passed: new Map(),
      pauses: new Pauses(this.#random),
      echo: new StatusEcho(),
      rendered: this.#rendered,
      values: this.#values,
    }));
  }
}
