import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';

import { describeFailure, failureCode } from '../../../runtime/observe/describe-failure.ts';
import { BadReleaseError, ReleaseNotFoundError, SourceUnavailableError } from '../asset-errors.ts';
import { assetFileName } from '../asset-file-name.ts';
import type { AssetLimits } from '../asset-limits.ts';
import { defaultAssetLimits } from '../asset-limits.ts';
import type { AssetSource, RemoteRelease, ResolvedRelease } from '../asset-source.ts';
import { contentDigest } from '../content-digest.ts';

interface FoundFile {
  readonly name: string;
  readonly path: string;
}

/**
 * Releases in a local folder, one folder for each, with the files of the release. The subfolder `cluster-stacks`, where the Go operator
 * stores them, is searched as well. Links are followed as long as they stay inside, because ConfigMap volumes consist of them.
 */
export class DirectorySource implements AssetSource {
  readonly address: string;
  readonly #path: string;
  readonly #limits: AssetLimits;

  constructor(options: { readonly path: string; readonly limits?: AssetLimits | undefined }) {
    this.#path = options.path;
    this.#limits = options.limits ?? defaultAssetLimits;
    this.address = `file://${options.path}`;
  }

  async list(signal: AbortSignal): Promise<readonly RemoteRelease[]> {
    const found = new Set<string>();
    for (const root of await this.#roots()) {
      signal.throwIfAborted();
      for (const name of await readdir(root)) {
        if (name === 'cluster-stacks' || name.startsWith('.')) continue;
        const metadata = await stat(join(root, name, 'metadata.yaml')).catch(() => undefined);
        if (metadata?.isFile() === true) found.add(name);
      }
    }
    return [...found].sort().map((tag) => ({ tag }));
  }

  async resolve(tag: string, signal: AbortSignal): Promise<ResolvedRelease> {
    return { digest: await this.#take(tag, undefined, signal) };
  }

  async load(
    release: { readonly tag: string; readonly digest: string },
    folder: string,
    signal: AbortSignal,
  ): Promise<void> {
    const digest = await this.#take(release.tag, folder, signal);
    if (digest === release.digest) return;
    throw new BadReleaseError(
      `${this.address}/${release.tag} has changed: its digest is ${digest}, not ${release.digest}`,
    );
  }

  /** Reads all files once, copies them if `folder` is given, and returns the digest of exactly what was read. */
  async #take(tag: string, folder: string | undefined, signal: AbortSignal): Promise<string> {
    let left = this.#limits.maxReleaseBytes;
    const files = [];
    for (const { name, path } of await this.#files(tag)) {
      const copy = folder === undefined ? undefined : await open(join(folder, name), 'wx', 0o644);
      try {
        const hash = createHash('sha256');
        let size = 0;
        for await (const part of createReadStream(path, { signal }) as AsyncIterable<Buffer>) {
          size += part.length;
          left -= part.length;
          if (size > this.#limits.maxFileBytes || left < 0) {
            throw new BadReleaseError(
              `${this.address}/${tag}: ${name} is too large: a file may have at most ${this.#limits.maxFileBytes} bytes, a release ${this.#limits.maxReleaseBytes}`,
            );
          }
          hash.update(part);
          await copy?.writeFile(part);
        }
        files.push({ name, digest: `sha256:${hash.digest('hex')}` });
      } finally {
        await copy?.close();
      }
    }
    return contentDigest(files);
  }

  async #files(tag: string): Promise<readonly FoundFile[]> {
    const name = assetFileName(tag, this.address);
    for (const root of await this.#roots()) {
      const folder = await realpath(join(root, name)).catch(() => undefined);
      if (folder?.startsWith(root + sep) !== true) continue;
      const names = (await readdir(folder).catch(() => [])).filter((one) => !one.startsWith('.'));
      if (!names.includes('metadata.yaml')) continue;
      if (names.length > this.#limits.maxFiles) {
        throw new BadReleaseError(
          `${this.address}/${tag} has ${names.length} files; at most ${this.#limits.maxFiles} are allowed`,
        );
      }
      return Promise.all(names.sort().map((one) => this.#file(folder, one)));
    }
    throw new ReleaseNotFoundError(`${this.address} has no folder ${tag} with a metadata.yaml`);
  }

  async #file(folder: string, name: string): Promise<FoundFile> {
    const path = await realpath(join(folder, assetFileName(name, this.address)));
    const isInside = path.startsWith(folder + sep);
    if (isInside && (await stat(path)).isFile()) return { name, path };
    throw new BadReleaseError(
      `${this.address}: ${name} is ${isInside ? 'not a file' : 'a link that points outside the release'}; a release must be a flat folder of files`,
    );
  }

  async #roots(): Promise<readonly string[]> {
    try {
      const root = await realpath(this.#path);
      if (!(await stat(root)).isDirectory()) throw new Error('it is not a folder');
      const inner = await realpath(join(root, 'cluster-stacks')).catch(() => undefined);
      return inner?.startsWith(root + sep) === true ? [root, inner] : [root];
    } catch (error) {
      const why = failureCode(error) === 'ENOENT' ? 'the folder does not exist' : describeFailure(error);
      throw new SourceUnavailableError(`${this.address} cannot be read: ${why}`, { cause: error });
    }
  }
}
