import type { Manifest } from '../../../api/meta.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import { BoundedCache } from '../../sources/bounded-cache.ts';
import type { Renderings } from '../../sources/generated-parts.ts';
import { compareRenderings } from '../../sources/generated-parts.ts';

/** In characters of JSON; in memory three times as much. */
const mostCharacters = 16 * 1024 * 1024;

interface Rendered {
  readonly digest: string;
  readonly renderings: Renderings;
}

/**
 * Rendered charts of releases, because each rendering starts a process. A result that does not fit into the cache is
 * rendered again when it is needed; its random parts then come from the cluster, not from here.
 */
export class RenderedReleases {
  readonly #kept: BoundedCache<Rendered>;
  /** Those of which something may be kept. */
  readonly #owners: ObjectSlot<true>;

  constructor(memory: ObjectMemory, bound = mostCharacters) {
    this.#owners = memory.slot('renderings of releases', {
      dispose: (_kept, owner) => {
        this.#kept.delete(owner);
      },
    });
    this.#kept = new BoundedCache(bound);
  }

  /**
   * What was rendered of this digest for this owner, or what `render` makes of it now: twice, so that what is made by
   * chance is known.
   * @throws UnstableNamesError and what `render` does.
   */
  async of(owner: string, digest: string, render: () => Promise<readonly Manifest[]>): Promise<Renderings> {
    const kept = this.#kept.get(owner);
    if (kept?.digest === digest) return kept.renderings;
    const [first, second] = await Promise.all([render(), render()]);
    const renderings = compareRenderings(first, second);
    this.#owners.set(owner, true);
    this.#kept.set(owner, { digest, renderings }, JSON.stringify(renderings).length);
    return renderings;
  }
}
