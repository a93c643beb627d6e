import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { BadReleaseError, ReleaseNotFoundError } from '../../../clusterstacks/sources/asset-errors.ts';
import type { AssetSource, RemoteRelease, ResolvedRelease } from '../../../clusterstacks/sources/asset-source.ts';
import { sha256Of } from './stack-release.ts';

type Files = Readonly<Record<string, Uint8Array>>;

/** Releases in memory; counts the calls, and can wait or fail in the middle of a release. */
export class MemorySource implements AssetSource {
  readonly address = 'memory://stacks';
  readonly releases = new Map<string, Files>();
  loads = 0;
  resolves = 0;
  /** Called before each file is written. */
  beforeFile: (name: string, signal: AbortSignal) => Promise<void> = () => Promise.resolve();

  constructor(releases: Readonly<Record<string, Files>> = {}) {
    for (const [tag, files] of Object.entries(releases)) this.releases.set(tag, files);
  }

  digestOf(tag: string): string {
    const files = this.releases.get(tag);
    if (files === undefined) throw new ReleaseNotFoundError(`no ${tag}`);
    return sha256Of(
      Object.entries(files)
        .map(([name, bytes]) => `${name} ${sha256Of(bytes)}`)
        .join('\n'),
    );
  }

  list(): Promise<readonly RemoteRelease[]> {
    return Promise.resolve([...this.releases.keys()].map((tag) => ({ tag })));
  }

  async resolve(tag: string): Promise<ResolvedRelease> {
    this.resolves += 1;
    return Promise.resolve({ digest: this.digestOf(tag) });
  }

  async load({ tag, digest }: { tag: string; digest: string }, folder: string, signal: AbortSignal): Promise<void> {
    this.loads += 1;
    if (this.digestOf(tag) !== digest) throw new BadReleaseError(`${tag} has changed`);
    for (const [name, bytes] of Object.entries(this.releases.get(tag) ?? {})) {
      await this.beforeFile(name, signal);
      signal.throwIfAborted();
      await writeFile(join(folder, name), bytes);
    }
  }
}
