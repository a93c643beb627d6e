import { goDuration } from '../../../api/go-duration.ts';
import type { ClusterStack } from '../../api/cluster-stack.ts';
import type { RemoteRelease } from '../../sources/asset-source.ts';
import type { AssetStore, SourceAddress } from '../../sources/asset-store.ts';
import { isOfChannel } from '../../sources/newest-release.ts';
import { versionIn } from '../../sources/release-name.ts';
import { compareVersions } from '../../sources/release-version.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';

/** What a source has of a stack. */
export interface RemoteReleases {
  readonly releases: readonly RemoteRelease[];
  /** For how many of them the creation time has not been looked up yet: a newer one may be among these. */
  readonly leftOut: number;
}

interface Poll extends RemoteReleases {
  /** The time of the next read of the list, in milliseconds since 1970. */
  readonly until: number;
  readonly source: string;
}

/** The creation times of releases are read one by one, at most this many at a time. */
export const readAtOnce = 64;
/** The delay until the others are read, in milliseconds, if the interval of the stack is not shorter. */
const goOnMs = 60_000;

/**
 * The releases of sources, queried no more often than each stack says. After a restart they are queried again: nothing else depends on this
 * memory.
 */
export class RemoteVersions {
  readonly #assets: Pick<AssetStore, 'list' | 'current'>;
  readonly #polls: ObjectSlot<Poll>;

  constructor(assets: Pick<AssetStore, 'list' | 'current'>, memory: ObjectMemory) {
    this.#assets = assets;
    this.#polls = memory.slot('polls of stacks');
  }

  /** The releases of the stack's source, and the delay in milliseconds until they are read again. */
  async of(
    stack: ClusterStack,
    address: SourceAddress,
    ctx: Context,
  ): Promise<RemoteReleases & { readonly afterMs: number }> {
    const { uid } = stack.metadata;
    const now = ctx.now.getTime();
    const source = JSON.stringify([address, stack.spec.channel]);
    const before = this.#polls.get(uid);
    const known = before?.source === source ? before : undefined;
    if (known !== undefined && known.until > now) return { ...known, afterMs: known.until - now };
    const listed = await this.#assets.list(address, ctx.signal);
    const dated = await this.#dated(stack, listed, { address, known: known?.releases ?? [], ctx });
    const intervalMs = goDuration(stack.spec.pollInterval);
    const afterMs = dated.leftOut > 0 ? Math.min(intervalMs, goOnMs) : intervalMs;
    // Results from before a failure are not read again; the failed read is repeated.
    this.#polls.set(uid, { ...dated, source, until: dated.failure === undefined ? now + afterMs : now });
    if (dated.failure !== undefined) throw dated.failure;
    return { ...dated, afterMs };
  }

  /**
   * Suffixes of the custom channel have no order: if the list does not contain the creation time of a release, it is looked up once.
   * Releases with the newest versions come first.
   */
  async #dated(
    { spec }: ClusterStack,
    listed: readonly RemoteRelease[],
    from: { readonly address: SourceAddress; readonly known: readonly RemoteRelease[]; readonly ctx: Context },
  ): Promise<RemoteReleases & { readonly failure?: Error }> {
    if (spec.channel !== 'custom') return { releases: listed, leftOut: 0 };
    const known = new Map(from.known.map((release) => [release.tag, release]));
    const ours = listed
      .flatMap((release) => {
        const version = versionIn(spec, release.tag);
        return version !== undefined && isOfChannel(version, spec.channel) ? [{ release, version }] : [];
      })
      .sort((a, b) => compareVersions(b.version, a.version))
      .map(({ release }) => (release.createdAt === undefined ? (known.get(release.tag) ?? release) : release));
    const isKnown = ({ tag, createdAt }: RemoteRelease): boolean => createdAt !== undefined || known.has(tag);
    const unread = ours.filter((release) => !isKnown(release)).slice(0, readAtOnce);
    const releases = ours.filter(isKnown);
    for (const { tag } of unread) {
      try {
        const createdAt = await this.#madeAt(tag, from);
        releases.push({ tag, createdAt });
      } catch (failure) {
        from.ctx.signal.throwIfAborted();
        return { releases, leftOut: ours.length - releases.length, failure: failure as Error };
      }
    }
    return { releases, leftOut: ours.length - releases.length };
  }

  async #madeAt(
    tag: string,
    { address, ctx }: { readonly address: SourceAddress; readonly ctx: Context },
  ): Promise<string | undefined> {
    try {
      return (await this.#assets.current(address, tag, ctx.signal)).createdAt;
    } catch (error) {
      // Deleted since it was listed, or no release at all: it is not the newest.
      if (error instanceof Error && passedOver.has(error.name)) return undefined;
      throw error;
    }
  }
}

/** By name, for errors of a store are values of its own. */
const passedOver: ReadonlySet<string> = new Set(['ReleaseNotFoundError', 'BadReleaseError']);
