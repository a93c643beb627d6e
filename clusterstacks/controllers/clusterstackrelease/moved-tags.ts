import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import type { AssetStore, SourceAddress } from '../../sources/asset-store.ts';

const lookEveryMs = 600_000;

/** Checks from time to time whether the tags of releases still name what the releases are pinned to. */
export class MovedTags {
  readonly #assets: Pick<AssetStore, 'current'>;
  readonly #looked: ObjectSlot<{ readonly at: number; readonly names: string }>;

  constructor(assets: Pick<AssetStore, 'current'>, memory: ObjectMemory) {
    this.#assets = assets;
    this.#looked = memory.slot('tags of releases');
  }

  /** The other digest to which the release's tag points now; undefined when the tag did not move, or when that is unknown. */
  async of(
    release: { readonly uid: string; readonly name: string; readonly digest: string; readonly address: SourceAddress },
    { now, signal }: Context,
  ): Promise<string | undefined> {
    const before = this.#looked.get(release.uid);
    const isDue = before === undefined || before.at + lookEveryMs <= now.getTime();
    const names = isDue ? await this.#look(release, signal) : before.names;
    if (isDue) this.#looked.set(release.uid, { at: now.getTime(), names });
    return names === release.digest ? undefined : names;
  }

  /** If the source is down, or has removed the tag, nothing is reported, because the pinned files are in the cache. */
  async #look(
    { address, name, digest }: { readonly address: SourceAddress; readonly name: string; readonly digest: string },
    signal: AbortSignal,
  ): Promise<string> {
    try {
      return (await this.#assets.current(address, name, signal)).digest;
    } catch {
      signal.throwIfAborted();
      return digest;
    }
  }
}
