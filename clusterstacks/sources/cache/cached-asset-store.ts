import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import type { Clock } from '../../../runtime/clock.ts';
import { describeFailure, failureCode } from '../../../runtime/observe/describe-failure.ts';
import { BadReleaseError, ReleaseNotFoundError } from '../asset-errors.ts';
import type { AssetLimits } from '../asset-limits.ts';
import { defaultAssetLimits } from '../asset-limits.ts';
import type { AssetSource, RemoteRelease, ResolvedRelease } from '../asset-source.ts';
import type { AssetStore, SourceAddress } from '../asset-store.ts';
import type { AddonAssets, ReleaseAssets } from '../release-assets.ts';
import { AccessMarks } from './access-marks.ts';
import type { CacheEntry } from './cache-entry.ts';
import { entryFile, readCacheEntry } from './cache-entry.ts';
import { places, prepareRelease } from './prepare-release.ts';
import type { ReleaseName } from './release-name.ts';
import { parseReleaseName } from './release-name.ts';
import { SharedWork } from './shared-work.ts';

/** What the store is made of. */
export interface CachedAssetStoreOptions {
  /** Where releases are cached. It may be lost at any time, and may be shared with other processes. */
  readonly folder: string;
  readonly open: (source: SourceAddress) => AssetSource;
  readonly clock: Clock;
  readonly limits?: AssetLimits | undefined;
}

const digestForm = /^sha256:[0-9a-f]{64}$/;
/** Temporary folders older than this were left behind by a process that died. */
const abandonedMs = 60 * 60_000;
/** A release that was requested within this time may still be in use. */
const inUseMs = 60 * 60_000;
/** How often unused releases are collected. */
const collectMs = 60 * 60_000;

/**
 * Releases below `<folder>/sha256-<hex>/`. Each is loaded, checked and unpacked in a temporary folder, which is renamed when it is
 * complete, so a folder with this name is complete even if a process dies. Entries are keyed by the digest of their content, the
 * name they are read under, and the credentials they were fetched with: knowing a digest does not permit reading its content.
 */
export class CachedAssetStore implements AssetStore {
  readonly #folder: string;
  readonly #options: CachedAssetStoreOptions;
  readonly #limits: AssetLimits;
  readonly #work = new SharedWork<ReleaseAssets>();
  readonly #access = new AccessMarks();
  readonly #requested = new Map<string, number>();
  #collected: number | undefined;

  constructor(options: CachedAssetStoreOptions) {
    this.#options = options;
    this.#folder = resolve(options.folder);
    this.#limits = options.limits ?? defaultAssetLimits;
  }

  list(source: SourceAddress, signal: AbortSignal): Promise<readonly RemoteRelease[]> {
    return this.#options.open(source).list(signal);
  }

  async current(
    source: SourceAddress,
    name: string,
    signal: AbortSignal,
  ): Promise<ResolvedRelease & { readonly tag: string }> {
    return find(this.#options.open(source), parseReleaseName(name), signal);
  }

  async assets(
    source: SourceAddress,
    release: { readonly name: string; readonly digest?: string },
    signal: AbortSignal,
  ): Promise<ReleaseAssets> {
    const name = parseReleaseName(release.name);
    const from = this.#options.open(source);
    const found = release.digest === undefined ? await find(from, name, signal) : undefined;
    const digest = found?.digest ?? release.digest ?? '';
    if (!digestForm.test(digest)) throw new BadReleaseError(`"${digest}" is not a SHA-256 digest of a release`);
    const folder = join(this.#folder, folderOf(digest, name, await this.#access.of(source)));
    this.#requested.set(folder, this.#options.clock.monotonic());
    this.#collectSometimes();
    const known = await readCacheEntry(folder);
    if (known !== undefined) return assetsOf(folder, digest, known);
    const tags = found === undefined ? name.spellings : [found.tag];
    const load = (shared: AbortSignal): Promise<ReleaseAssets> =>
      this.#load({ from, tags, digest, name, folder }, shared);
    return this.#work.run(folder, load, signal);
  }

  /**
   * Removes releases whose digest is not among these, unless they were requested within the last hour, and what dead processes left behind.
   * A release that is removed too early is fetched again.
   */
  async collect(inUse: ReadonlySet<string>): Promise<void> {
    const kept = new Set([...inUse].map((digest) => digest.replace(':', '-')));
    const { clock } = this.#options;
    this.#forgetOld(clock.monotonic());
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const path = join(this.#folder, name);
      if (name.startsWith('.')) {
        const made = await stat(path).catch(() => undefined);
        if (made !== undefined && clock.now().getTime() - made.mtimeMs > abandonedMs) await remove(path);
      } else if (/^sha256-[0-9a-f]{64}/.test(name) && !kept.has(name.slice(0, 71))) {
        if (this.#requested.has(path) || this.#work.keys.has(path)) continue;
        await this.#discard(path);
      }
    }
  }

  /** Number of releases whose last request is remembered. */
  get remembered(): number {
    return this.#requested.size;
  }

  /** Also forgets releases that could not be fetched and therefore have no folder to collect. */
  #forgetOld(now: number): void {
    for (const [path, requested] of this.#requested) {
      if (now - requested >= inUseMs) this.#requested.delete(path);
    }
  }

  /** Releases in use are requested several times an hour; any other one is fetched again on demand. */
  #collectSometimes(): void {
    const now = this.#options.clock.monotonic();
    this.#collected ??= now;
    if (now - this.#collected < collectMs) return;
    this.#collected = now;
    // The next collection retries what could not be removed.
    this.collect(new Set()).catch(() => undefined);
  }

  async #load(wanted: Wanted, signal: AbortSignal): Promise<ReleaseAssets> {
    const { from, tags, digest, name, folder } = wanted;
    const limits = this.#limits;
    const temporary = join(this.#folder, `.${randomBytes(12).toString('hex')}`);
    const all = AbortSignal.any([signal, AbortSignal.timeout(limits.releaseTimeoutMs)]);
    try {
      const files = join(temporary, places.files);
      const tag = await loadUnderOneOf(tags, { files, from, digest }, all);
      const prepared = await prepareRelease(temporary, name, { limits, signal: all });
      const entry: CacheEntry = { ...prepared, tag, source: from.address };
      await writeFile(join(temporary, entryFile), JSON.stringify(entry));
      await this.#place(temporary, folder);
      return assetsOf(folder, digest, entry);
    } catch (error) {
      throw named(error, `${from.address} ${tags[0] ?? ''} (${digest})`);
    } finally {
      await remove(temporary);
    }
  }

  /** Moves a complete release into place. Another process may have been first; an incomplete folder is discarded. */
  async #place(temporary: string, folder: string): Promise<void> {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      try {
        await rename(temporary, folder);
        return;
      } catch (error) {
        const code = failureCode(error);
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
        if ((await readCacheEntry(folder)) !== undefined) return;
        await this.#discard(folder);
      }
    }
    throw new Error(`${folder} cannot be replaced`);
  }

  /** Renames the folder before deleting it, so that half a release never has the name of a complete one. */
  async #discard(folder: string): Promise<void> {
    const away = join(this.#folder, `.${randomBytes(12).toString('hex')}`);
    await rename(folder, away).catch(() => undefined);
    await remove(away);
  }
}

interface Wanted {
  readonly from: AssetSource;
  readonly tags: readonly string[];
  readonly digest: string;
  readonly name: ReleaseName;
  readonly folder: string;
}

/** The name is part of the key: the same content under the name of another stack is validated separately. */
function folderOf(digest: string, name: ReleaseName, access: string): string {
  const read = createHash('sha256').update(`${name.stack}-${name.version}`).digest('hex').slice(0, 16);
  return [digest.replace(':', '-'), read, ...(access === '' ? [] : [access])].join('-');
}

async function find(
  from: AssetSource,
  { spellings }: ReleaseName,
  signal: AbortSignal,
): Promise<ResolvedRelease & { readonly tag: string }> {
  for (const tag of spellings) {
    try {
      return { ...(await from.resolve(tag, signal)), tag };
    } catch (error) {
      if (!(error instanceof ReleaseNotFoundError)) throw error;
    }
  }
  throw new ReleaseNotFoundError(`${from.address} has no release ${spellings.join(' or ')}`);
}

/** Loads the release with this digest, whichever way its tag is spelled. */
async function loadUnderOneOf(
  tags: readonly string[],
  { from, files, digest }: { readonly from: AssetSource; readonly files: string; readonly digest: string },
  signal: AbortSignal,
): Promise<string> {
  let failure: unknown;
  for (const tag of tags) {
    await remove(files);
    await mkdir(files, { recursive: true });
    try {
      await from.load({ tag, digest }, files, signal);
      return tag;
    } catch (error) {
      if (!(error instanceof ReleaseNotFoundError)) throw error;
      failure ??= error;
    }
  }
  throw failure;
}

function assetsOf(folder: string, digest: string, entry: CacheEntry): ReleaseAssets {
  const { tag, source, metadata, clusterClass, addons } = entry;
  const file = (name: string): string => join(folder, places.files, name);
  return {
    digest,
    source,
    tag,
    metadata,
    clusterClassChart: file(clusterClass),
    ...(addons !== undefined && { addons: addonsOf(addons, folder) }),
  };
}

function addonsOf(addons: NonNullable<CacheEntry['addons']>, folder: string): AddonAssets {
  if (addons.mode === 'stages') return { mode: 'stages', folder: join(folder, places.addons), config: addons.config };
  const file = (name: string): string => join(folder, places.files, name);
  const { chart, values } = addons;
  return { mode: 'single-chart', chart: file(chart), ...(values !== undefined && { valuesTemplate: file(values) }) };
}

/** Prefixes an error with the release that it is about. */
function named(error: unknown, release: string): unknown {
  if (error instanceof BadReleaseError) return new BadReleaseError(`${release}: ${error.message}`, { cause: error });
  if (failureCode(error) === 'ENOSPC') {
    return new Error(`${release}: no space left in the cache: ${describeFailure(error)}`, { cause: error });
  }
  return error;
}

const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true });
