import { BoundedCache } from '../../stacks/bounded-cache.ts';
import type { Renderings } from '../../stacks/generated-parts.ts';

/** In characters of JSON; in memory three times as much. */
const mostCharacters = 16 * 1024 * 1024;

/** Whose rendering it is, for what must not be shared. */
export interface RenderingOwner {
  readonly uid: string;
  /** Another value makes what is generated anew. */
  readonly regeneration: string;
}

/**
 * What stages were rendered to, by a hash over all that they are made from, so that a retry does not start helm for what has not
 * changed. ClusterAddons share what charts always make alike. What a chart makes by chance, such as a private key, is its owner's
 * alone, and only until it is applied: what is missing afterwards has to be made anew.
 */
export class RenderedStages {
  readonly #cache = new BoundedCache<Renderings>(mostCharacters);
  /** Keys of what is one owner's, by UID. */
  readonly #owned = new Map<string, Set<string>>();

  async of(digest: string, owner: RenderingOwner, render: () => Promise<Renderings>): Promise<Renderings> {
    const own = `${owner.uid}/${owner.regeneration}/${digest}`;
    const known = this.#cache.get(digest) ?? this.#cache.get(own);
    if (known !== undefined) return known;
    const renderings = await render();
    const isOwned = renderings.generated.length > 0;
    if (isOwned) this.#owned.set(owner.uid, (this.#owned.get(owner.uid) ?? new Set()).add(own));
    this.#cache.set(isOwned ? own : digest, renderings, JSON.stringify(renderings).length);
    return renderings;
  }

  /** Everything of this owner is applied, or the owner is gone. */
  forget(uid: string): void {
    for (const key of this.#owned.get(uid) ?? []) this.#cache.delete(key);
    this.#owned.delete(uid);
  }
}
