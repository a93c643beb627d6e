import { join } from 'node:path';

import type { AssetLimits } from '../asset-limits.ts';
import { defaultAssetLimits } from '../asset-limits.ts';
import type { AssetSource, RemoteRelease, ResolvedRelease } from '../asset-source.ts';
import type { OciRepositoryOptions } from './oci-repository.ts';
import { OciRepository } from './oci-repository.ts';
import type { ReleaseManifest } from './release-manifest.ts';
import { parseReleaseManifest } from './release-manifest.ts';

/** Releases in an OCI repository: a tag for each release, its layers are the files, and the manifest's digest is its digest. */
export class OciSource implements AssetSource {
  readonly address: string;
  readonly #repository: OciRepository;
  readonly #limits: AssetLimits;

  /** @throws RangeError when the address of the repository is invalid. */
  constructor(options: OciRepositoryOptions) {
    this.#repository = new OciRepository(options);
    this.#limits = options.limits ?? defaultAssetLimits;
    this.address = `oci://${this.#repository.address}`;
  }

  async list(signal: AbortSignal): Promise<readonly RemoteRelease[]> {
    const tags = await this.#repository.tags(signal);
    return tags.map((tag) => ({ tag }));
  }

  async resolve(tag: string, signal: AbortSignal): Promise<ResolvedRelease> {
    const { digest, bytes } = await this.#repository.manifest(tag, signal);
    const { createdAt } = this.#read(tag, bytes);
    return { digest, createdAt };
  }

  async load(
    release: { readonly tag: string; readonly digest: string },
    folder: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { bytes } = await this.#repository.manifest(release.digest, signal);
    for (const file of this.#read(release.tag, bytes).files) {
      await this.#repository.saveBlob(file, join(folder, file.name), signal);
    }
  }

  #read(tag: string, bytes: Buffer): ReleaseManifest {
    return parseReleaseManifest(bytes.toString('utf8'), `${this.#repository.address}:${tag}`, this.#limits);
  }
}
