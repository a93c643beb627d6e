import type { AssetStore, SourceAddress } from '../../clusterstacks/sources/asset-store.ts';
import type { ReleaseAssets } from '../../clusterstacks/sources/release-assets.ts';

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

/** Releases in memory: what a test pushes is what a source has. */
export class FakeAssetStore implements AssetStore {
  /** Every call, in order, with its arguments. */
  readonly calls: string[] = [];
  readonly #tags = new Map<string, ReleaseAssets & { readonly createdAt?: string }>();
  readonly #kept = new Map<string, ReleaseAssets>();
  #failure: Error | undefined;

  /** Makes the tag name these bytes from now on. */
  push(
    tag: string,
    content: {
      readonly digit: string;
      readonly kubernetes: string;
      readonly version?: string;
      readonly createdAt?: string;
    },
  ): void {
    const { digit, kubernetes, createdAt } = content;
    const clusterStack = content.version ?? /v\d+.*$/.exec(tag)?.[0].replace(/-([a-z0-9]+)-/, '-$1.') ?? '';
    const assets: ReleaseAssets = {
      digest: `sha256:${digit.repeat(64)}`,
      source: 'registry.example.com/stacks',
      tag,
      metadata: { clusterStack, kubernetes, clusterAddon: clusterStack },
      clusterClassChart: `/cache/${digit}/${tag}.tgz`,
    };
    this.#tags.set(tag, { ...assets, createdAt });
    this.#kept.set(assets.digest, assets);
  }

  remove(tag: string): void {
    this.#tags.delete(tag);
  }

  /** Every call fails with an error of this name until it is called without one. */
  fail(name?: string, message = 'the registry is away'): void {
    this.#failure = name === undefined ? undefined : named(name, message);
  }

  list(): ReturnType<AssetStore['list']> {
    return this.#answer('list', '', () => [...this.#tags.keys()].map((tag) => ({ tag })));
  }

  current(_source: SourceAddress, name: string): ReturnType<AssetStore['current']> {
    return this.#answer('current', name, () => {
      const { tag, digest, createdAt } = this.#named(name);
      return { tag, digest, createdAt };
    });
  }

  assets(
    _source: SourceAddress,
    { name, digest }: { readonly name: string; readonly digest?: string },
  ): Promise<ReleaseAssets> {
    return this.#answer('assets', `${name} ${digest?.slice(7, 8) ?? ''}`.trim(), () => {
      if (digest === undefined) return this.#named(name);
      const kept = this.#kept.get(digest);
      if (kept === undefined) throw named('ReleaseNotFoundError', `there is no ${digest}`);
      return kept;
    });
  }

  #named(name: string): ReleaseAssets & { readonly createdAt?: string } {
    const found = this.#tags.get(name) ?? this.#tags.get(name.replace(/-([a-z0-9]+)$/, '.$1'));
    if (found === undefined) throw named('ReleaseNotFoundError', `there is no tag ${name}`);
    return found;
  }

  #answer<R>(verb: string, about: string, answer: () => R): Promise<R> {
    this.calls.push(`${verb} ${about}`.trim());
    return this.#failure === undefined ? Promise.resolve().then(answer) : Promise.reject(this.#failure);
  }
}
