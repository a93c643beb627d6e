import type { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../../runtime/cache/object-slot.ts';
import { BoundedCache } from '../../../sources/bounded-cache.ts';
import type { Renderings } from '../../../sources/generated-parts.ts';

/** In characters of JSON; in memory three times as much. */
const mostCharacters = 16 * 1024 * 1024;

/** Whose rendering it is, for what must not be shared. */
export interface RenderingOwner {
  readonly uid: string;
  /** Another value generates the random parts again. */
  readonly regeneration: string;
}

/**
 * Rendered stages, by a hash over all of their inputs, so that a retry does not start helm for unchanged inputs.
 * Deterministic results are common to all ClusterAddons. Random parts of a chart, such as a private key, belong to one
 * owner, and are stored only until they are applied: if they are missing afterwards, they have to be generated again.
 */
export class RenderedStages {
  readonly #cache = new BoundedCache<Renderings>(mostCharacters);
  /** Keys of what is one owner's, by UID. */
  readonly #owned: ObjectSlot<Set<string>>;

  constructor(memory: ObjectMemory) {
    this.#owned = memory.slot('own renderings of ClusterAddons', {
      dispose: (keys) => {
        for (const key of keys) this.#cache.delete(key);
      },
    });
  }

  async of(digest: string, owner: RenderingOwner, render: () => Promise<Renderings>): Promise<Renderings> {
    const own = `${owner.uid}/${owner.regeneration}/${digest}`;
    const known = this.#cache.get(digest) ?? this.#cache.get(own);
    if (known !== undefined) return known;
    const renderings = await render();
    const isOwned = renderings.generated.length > 0;
    if (isOwned) this.#owned.getOrMake(owner.uid, () => new Set()).add(own);
    this.#cache.set(isOwned ? own : digest, renderings, JSON.stringify(renderings).length);
    return renderings;
  }

  /** Everything of this owner is applied. */
  forget(uid: string): void {
    this.#owned.delete(uid);
  }
}
