import { join } from 'node:path';

import { BadReleaseError, ReleaseNotFoundError, SourceUnavailableError } from '../asset-errors.ts';
import { assetFileName } from '../asset-file-name.ts';
import type { AssetLimits } from '../asset-limits.ts';
import { defaultAssetLimits } from '../asset-limits.ts';
import type { AssetSource, RemoteRelease, ResolvedRelease } from '../asset-source.ts';
import { contentDigest } from '../content-digest.ts';
import { nextPage } from '../http/next-page.ts';
import type { SourceAnswer } from '../http/source-http.ts';
import { SourceHttp } from '../http/source-http.ts';
import type { GithubAsset, GithubRelease } from './github-release.ts';
import { githubRelease } from './github-release.ts';

/** How the releases of a GitHub repository are reached. */
export interface GithubSourceOptions {
  /** `owner/name`. */
  readonly repository: string;
  /** `https://api.github.com` where absent. */
  readonly apiServer?: string | undefined;
  readonly token?: string | undefined;
  readonly certificateAuthority?: string | undefined;
  readonly limits?: AssetLimits | undefined;
  /** `host:port` addresses that it must never point to. */
  readonly closed?: readonly string[] | undefined;
}

/** Releases of a GitHub repository: their tags, and their assets as files. A release's digest is that of its assets' digests. */
export class GithubSource implements AssetSource {
  readonly address: string;
  readonly #base: URL;
  readonly #http: SourceHttp;
  readonly #limits: AssetLimits;
  readonly #token: string | undefined;

  /**
   * @throws RangeError when the address is invalid.
   */
  constructor(options: GithubSourceOptions) {
    const { repository, apiServer = 'https://api.github.com', token, limits = defaultAssetLimits } = options;
    const server = URL.parse(apiServer);
    if (
      !/^[A-Za-z0-9_.-]{1,100}\/[A-Za-z0-9_.-]{1,100}$/.test(repository) ||
      /(?:^|\/)\.\.?(?:\/|$)/.test(repository)
    ) {
      throw new RangeError(`"${repository}" is not a GitHub repository: use OWNER/NAME`);
    }
    if (server === null)
      throw new RangeError(`"${apiServer}" is not the URL of a GitHub API: use one such as https://api.github.com`);
    this.address = `${server.hostname === 'api.github.com' ? 'https://github.com' : server.origin}/${repository}`;
    this.#base = new URL(`${server.href.replace(/\/$/, '')}/repos/${repository}/`);
    this.#limits = limits;
    this.#token = token;
    this.#http = new SourceHttp({
      name: this.address,
      home: this.#base,
      closed: options.closed,
      limits,
      certificateAuthority: options.certificateAuthority,
      // An address that begins with http:// is a deliberate choice.
      plainHttp: server.protocol === 'http:',
    });
  }

  async list(signal: AbortSignal): Promise<readonly RemoteRelease[]> {
    const found: RemoteRelease[] = [];
    let url: URL | undefined = new URL('releases?per_page=100', this.#base);
    for (let page = 0; url !== undefined; page += 1) {
      if (page >= this.#limits.maxPages || found.length > this.#limits.maxReleases) {
        throw new BadReleaseError(
          `${this.address} lists more than ${this.#limits.maxReleases} releases or ${this.#limits.maxPages} pages`,
        );
      }
      const answer = await this.#ask(url, 'application/vnd.github+json', signal);
      const list = json(await this.#http.text(answer, signal));
      if (!Array.isArray(list)) throw new SourceUnavailableError(`${this.address} did not return a list of releases`);
      for (const one of list) {
        const release = githubRelease(one, this.address);
        if (release === undefined || release.isDraft) continue;
        found.push({ tag: release.tag, createdAt: release.createdAt });
      }
      url = list.length === 0 ? undefined : nextPage(answer.header('link'), answer.url);
    }
    return found;
  }

  async resolve(tag: string, signal: AbortSignal): Promise<ResolvedRelease> {
    const release = await this.#release(tag, signal);
    const files = [];
    for (const asset of release.assets) {
      files.push({ name: asset.name, digest: asset.digest ?? (await this.#hashed(asset, signal)) });
    }
    return { digest: contentDigest(files), createdAt: release.createdAt };
  }

  async load(
    release: { readonly tag: string; readonly digest: string },
    folder: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { assets } = await this.#release(release.tag, signal);
    const files = [];
    for (const asset of assets) {
      const answer = await this.#download(asset, signal);
      const saved = await this.#http.save(answer, { file: join(folder, asset.name), maxBytes: asset.size }, signal);
      files.push({ name: asset.name, digest: saved.digest });
    }
    const digest = contentDigest(files);
    if (digest === release.digest) return;
    throw new BadReleaseError(
      `${this.address}: the files of release ${release.tag} have changed: their digest is ${digest}, not ${release.digest}`,
    );
  }

  async #release(tag: string, signal: AbortSignal): Promise<GithubRelease> {
    const url = new URL(`releases/tags/${encodeURIComponent(tag)}`, this.#base);
    const answer = await this.#ask(url, 'application/vnd.github+json', signal);
    const release = githubRelease(json(await this.#http.text(answer, signal)), this.address);
    if (release === undefined) throw new SourceUnavailableError(`${this.address} did not return a release for ${tag}`);
    const names = new Set(release.assets.map(({ name }) => assetFileName(name, `${this.address} ${tag}`)));
    if (names.size < release.assets.length)
      throw new BadReleaseError(`${this.address}: ${tag} has two assets with the same name`);
    const size = release.assets.reduce((sum, asset) => sum + asset.size, 0);
    const { maxFiles, maxFileBytes, maxReleaseBytes } = this.#limits;
    if (names.size > maxFiles || size > maxReleaseBytes || release.assets.some((asset) => asset.size > maxFileBytes)) {
      throw new BadReleaseError(
        `${this.address}: ${tag} has ${names.size} files with ${size} bytes in total; at most ${maxFiles} files of ${maxFileBytes} bytes each and ${maxReleaseBytes} bytes in total are allowed`,
      );
    }
    return release;
  }

  /** The digest of an asset from before GitHub reported digests. */
  async #hashed(asset: GithubAsset, signal: AbortSignal): Promise<string> {
    return this.#http.digest(await this.#download(asset, signal), asset.size, signal);
  }

  /** GitHub redirects to its file storage, which must not get the token. */
  async #download(asset: GithubAsset, signal: AbortSignal): Promise<SourceAnswer> {
    return this.#ask(new URL(`releases/assets/${asset.id}`, this.#base), 'application/octet-stream', signal);
  }

  async #ask(url: URL, accept: string, signal: AbortSignal): Promise<SourceAnswer> {
    const headers = { accept, 'x-github-api-version': '2022-11-28' };
    const authorization = this.#token === undefined ? undefined : `Bearer ${this.#token}`;
    const answer = await this.#http.send({ url, headers, authorization }, signal);
    if (answer.status === 200) return answer;
    await this.#http.drop(answer);
    const what = `${this.address} returned ${answer.status} for ${url.pathname}`;
    const isReleaseAsked = url.pathname.includes('/releases/');
    if (answer.status === 404 && isReleaseAsked) {
      throw new ReleaseNotFoundError(
        `${this.address} has no ${decodeURIComponent(url.pathname.split('/releases/')[1] ?? '')}`,
      );
    }
    if (answer.status === 403 || answer.status === 429) throw this.#limited(answer, what);
    const remedy = answer.status === 401 || answer.status === 404 ? `; ${this.#credentialsText()}` : '';
    throw new SourceUnavailableError(`${what}${remedy}`);
  }

  /** GitHub's documentation, “Rate limits for the REST API”. */
  #limited(answer: SourceAnswer, what: string): SourceUnavailableError {
    const after = Number(answer.header('retry-after')) * 1000;
    const reset = Number(answer.header('x-ratelimit-reset')) * 1000;
    if (answer.header('x-ratelimit-remaining') === '0' && reset > 0) {
      const limit = answer.header('x-ratelimit-limit') ?? 'allowed';
      const remedy =
        this.#token === undefined
          ? '; a token (GIT_ACCESS_TOKEN, or credentialsSecretRef of the source) raises the limit'
          : '';
      return new SourceUnavailableError(
        `${what}: the ${limit} requests per hour are used up until ${new Date(reset).toISOString()}${remedy}`,
        { retryAfterMs: Math.max(reset - Date.now(), 1000) },
      );
    }
    if (after > 0) return new SourceUnavailableError(`${what}: too many requests`, { retryAfterMs: after });
    return new SourceUnavailableError(`${what}; ${this.#credentialsText()}`);
  }

  #credentialsText(): string {
    return this.#token === undefined
      ? 'it may be private: set GIT_ACCESS_TOKEN of the manager, or credentialsSecretRef of the source, to a token that may read it'
      : 'check that the token may read this repository';
  }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
