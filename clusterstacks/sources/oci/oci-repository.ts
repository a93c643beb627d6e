import { BadReleaseError, ReleaseNotFoundError, SourceUnavailableError } from '../asset-errors.ts';
import type { AssetLimits } from '../asset-limits.ts';
import { defaultAssetLimits } from '../asset-limits.ts';
import { nextPage } from '../http/next-page.ts';
import type { SourceAnswer, SourceRequest } from '../http/source-http.ts';
import { SourceHttp } from '../http/source-http.ts';
import type { Artifact } from './artifact.ts';
import { digestOf } from './artifact.ts';
import type { RegistryCredentials, RegistryScope } from './registry-authorization.ts';
import { RegistryAuthorization } from './registry-authorization.ts';
import type { RepositoryAddress } from './repository-address.ts';
import { parseRepositoryAddress } from './repository-address.ts';

/** How a repository is reached. */
export interface OciRepositoryOptions {
  /** `host[:port]/path`. */
  readonly repository: string;
  /** Without TLS. */
  readonly plainHttp?: boolean | undefined;
  /** PEM. */
  readonly certificateAuthority?: string | undefined;
  readonly credentials?: RegistryCredentials | undefined;
  readonly limits?: AssetLimits | undefined;
  /** Tags per request; 1000 if absent. */
  readonly pageSize?: number | undefined;
  /** `host:port` addresses that it must never point to. */
  readonly closed?: readonly string[] | undefined;
  /** What messages ask people to set; by default fields of a source and variables of the manager. */
  readonly settings?: RepositorySettings | undefined;
}

/** How the settings of a repository are called where people make them. */
export interface RepositorySettings {
  readonly credentials: string;
  readonly plainHttp: string;
}

const sourceSettings: RepositorySettings = {
  credentials:
    'credentialsSecretRef of the source, or OCI_USERNAME and OCI_PASSWORD or OCI_ACCESS_TOKEN of the manager,',
  plainHttp: 'plainHTTP of the source',
};

/** A manifest as the registry stores it. */
export interface OciManifest {
  readonly mediaType: string;
  readonly digest: string;
  readonly bytes: Buffer;
}

const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
].join(', ');

/**
 * One repository of a registry that implements the OCI distribution specification 1.1. Everything that is read is verified against its
 * digest before it is used.
 */
export class OciRepository {
  /** `host[:port]/path`. */
  readonly address: string;
  readonly #at: RepositoryAddress;
  readonly #base: URL;
  readonly #http: SourceHttp;
  readonly #limits: AssetLimits;
  readonly #authorization: RegistryAuthorization;
  readonly #hasCredentials: boolean;
  readonly #settings: RepositorySettings;
  readonly #pageSize: number;

  /**
   * @throws RangeError when the address of the repository is invalid.
   */
  constructor(options: OciRepositoryOptions) {
    const { repository, plainHttp = false, credentials, limits = defaultAssetLimits, certificateAuthority } = options;
    this.#at = parseRepositoryAddress(repository);
    this.address = `${this.#at.host}/${this.#at.path}`;
    this.#base = new URL(`${plainHttp ? 'http' : 'https'}://${this.#at.host}/v2/${this.#at.path}/`);
    this.#limits = limits;
    this.#settings = options.settings ?? sourceSettings;
    this.#http = new SourceHttp({
      ...{ name: this.address, home: this.#base, closed: options.closed, plainHttpSetting: this.#settings.plainHttp },
      ...{ limits, plainHttp, certificateAuthority },
    });
    this.#authorization = new RegistryAuthorization(this.#http, this.#at, { credentials, plainHttp });
    this.#hasCredentials = credentials !== undefined;
    this.#pageSize = options.pageSize ?? 1000;
  }

  /** All tags, of all pages. */
  async tags(signal: AbortSignal): Promise<readonly string[]> {
    const found = new Set<string>();
    const readPages = new Set<string>();
    let url: URL | undefined = new URL(`tags/list?n=${this.#pageSize}`, this.#base);
    for (let page = 0; url !== undefined; page += 1) {
      if (page >= this.#limits.maxPages || found.size > this.#limits.maxReleases) {
        throw new BadReleaseError(
          `${this.address} lists more than ${this.#limits.maxReleases} tags or ${this.#limits.maxPages} pages`,
        );
      }
      const answer = await this.#ask({ url }, 'pull', signal);
      if (answer.status === 404) {
        const why = await this.#errorText(answer, signal);
        throw new SourceUnavailableError(`repository ${this.address} does not exist or is not public${why}`);
      }
      const list = tagsOf(await this.#http.text(answer, signal));
      if (list === undefined)
        throw new SourceUnavailableError(`${this.address} did not return a list of tags; is it a registry?`);
      for (const tag of list) found.add(tag);
      readPages.add(url.href);
      const next = nextPage(answer.header('link'), answer.url);
      // The links between pages may form a circle.
      url = next === undefined || readPages.has(next.href) ? undefined : next;
    }
    return [...found];
  }

  /**
   * The manifest of a tag or a digest.
   * @throws ReleaseNotFoundError when there is none; BadReleaseError when its content does not match the digest.
   */
  async manifest(reference: string, signal: AbortSignal): Promise<OciManifest> {
    const url = new URL(`manifests/${encodeURIComponent(reference).replaceAll('%3A', ':')}`, this.#base);
    const answer = await this.#ask({ url, headers: { accept: manifestTypes } }, 'pull', signal);
    if (answer.status === 404) {
      const why = await this.#errorText(answer, signal);
      throw new ReleaseNotFoundError(`${this.address} has no ${reference}${why}`);
    }
    const bytes = await this.#http.bytes(answer, signal);
    const digest = digestOf(bytes);
    const announced = reference.startsWith('sha256:') ? reference : answer.header('docker-content-digest');
    if (announced !== undefined && announced.startsWith('sha256:') && announced !== digest) {
      throw new BadReleaseError(
        `${this.address} returned a manifest with digest ${digest} for ${reference}, not ${announced}: the registry, or something on the way to it, cannot be trusted`,
      );
    }
    return { mediaType: answer.header('content-type') ?? '', digest, bytes };
  }

  /**
   * Writes a blob into a new file.
   * @throws BadReleaseError when it is not what its digest and size say.
   */
  async saveBlob(
    blob: { readonly digest: string; readonly size: number },
    file: string,
    signal: AbortSignal,
  ): Promise<void> {
    const answer = await this.#ask({ url: new URL(`blobs/${blob.digest}`, this.#base) }, 'pull', signal);
    if (answer.status === 404) {
      const why = await this.#errorText(answer, signal);
      throw new ReleaseNotFoundError(`${this.address} has no ${blob.digest}, but its manifest refers to it${why}`);
    }
    const { size, digest } = await this.#http.save(answer, { file, maxBytes: blob.size }, signal);
    if (digest === blob.digest && size === blob.size) return;
    throw new BadReleaseError(
      `${this.address} returned ${size} bytes with digest ${digest} for ${blob.digest} (${blob.size} bytes): the registry, or something on the way to it, cannot be trusted`,
    );
  }

  /**
   * Uploads everything that an artifact consists of, and the tag last, so that it is never visible in part. Returns the digest of
   * its manifest.
   */
  async push(artifact: Artifact, tag: string, signal: AbortSignal): Promise<string> {
    await this.#pushParts(artifact, signal);
    return this.#pushManifest(artifact, tag, signal);
  }

  async #pushParts({ blobs, manifests = [] }: Artifact, signal: AbortSignal): Promise<void> {
    for (const { bytes } of blobs) await this.pushBlob(bytes, signal);
    for (const inner of manifests) {
      await this.#pushParts(inner, signal);
      await this.#pushManifest(inner, inner.manifest.descriptor.digest, signal);
    }
  }

  #pushManifest(
    { manifest: { descriptor, bytes } }: Artifact,
    reference: string,
    signal: AbortSignal,
  ): Promise<string> {
    return this.pushManifest({ mediaType: descriptor.mediaType, bytes }, reference, signal);
  }

  /** Uploads a blob unless it exists. Returns its digest. */
  async pushBlob(bytes: Uint8Array, signal: AbortSignal): Promise<string> {
    const digest = digestOf(bytes);
    const known = await this.#ask({ method: 'HEAD', url: new URL(`blobs/${digest}`, this.#base) }, 'pull,push', signal);
    await this.#http.drop(known);
    if (known.status === 200) return digest;
    const begun = await this.#ask(
      { method: 'POST', url: new URL('blobs/uploads/', this.#base), body: new Uint8Array() },
      'pull,push',
      signal,
    );
    await this.#http.drop(begun);
    const location = begun.header('location');
    const url = location === undefined ? null : URL.parse(location, this.#base.href);
    if (url === null || begun.status === 404) {
      throw new SourceUnavailableError(
        `${this.address} did not say where to upload a blob (it returned ${begun.status})`,
      );
    }
    url.searchParams.set('digest', digest);
    await this.#put({ url, body: bytes, headers: { 'content-type': 'application/octet-stream' } }, signal);
    return digest;
  }

  /** Uploads a manifest under a tag or its digest, after all blobs that it refers to. Returns its digest. */
  async pushManifest(
    manifest: { readonly mediaType: string; readonly bytes: Uint8Array },
    reference: string,
    signal: AbortSignal,
  ): Promise<string> {
    const url = new URL(`manifests/${encodeURIComponent(reference).replaceAll('%3A', ':')}`, this.#base);
    await this.#put({ url, body: manifest.bytes, headers: { 'content-type': manifest.mediaType } }, signal);
    return digestOf(manifest.bytes);
  }

  async #put(request: SourceRequest, signal: AbortSignal): Promise<void> {
    const answer = await this.#ask({ ...request, method: 'PUT' }, 'pull,push', signal);
    if (answer.status === 201 || answer.status === 202 || answer.status === 204) {
      await this.#http.drop(answer);
      return;
    }
    const why = await this.#errorText(answer, signal);
    throw new SourceUnavailableError(
      `${this.address} refused the upload to ${request.url.pathname}: it returned ${answer.status}${why}`,
    );
  }

  /** Sends a request, and repeats it with the credentials that the registry requires. Returns only on success and on 404. */
  async #ask(request: SourceRequest, scope: RegistryScope, signal: AbortSignal): Promise<SourceAnswer> {
    // An upload may lead to another host, which must not get the credentials.
    const isRegistry = request.url.origin === this.#base.origin;
    const shown = isRegistry ? this.#authorization.known(scope) : undefined;
    let answer = await this.#http.send({ ...request, authorization: shown }, signal);
    if (answer.status === 401 && isRegistry && !answer.redirected) {
      await this.#http.drop(answer);
      const authorization = await this.#authorization.answer(answer.header('www-authenticate'), scope, signal);
      if (authorization === undefined) throw this.#refusal(401, '');
      answer = await this.#http.send({ ...request, authorization }, signal);
    }
    const { status } = answer;
    if ((status >= 200 && status < 300) || status === 404) return answer;
    const why = await this.#errorText(answer, signal);
    if (status === 401 || status === 403) throw this.#refusal(status, why);
    const retryAfterMs = Number(answer.header('retry-after')) * 1000;
    throw new SourceUnavailableError(
      `${this.address} returned ${status} for ${request.method ?? 'GET'} ${request.url.pathname}${status === 429 ? ': too many requests' : ''}${why}`,
      retryAfterMs > 0 ? { retryAfterMs } : {},
    );
  }

  #refusal(status: number, why: string): SourceUnavailableError {
    const remedy = this.#hasCredentials
      ? 'check that the credentials permit this'
      : `it may be private: set ${this.#settings.credentials} to credentials that permit this`;
    return new SourceUnavailableError(`${this.address} returned ${status}${why}; ${remedy}`);
  }

  /** The registry's error message in the specified format; messages of other hosts are not repeated. */
  async #errorText(answer: SourceAnswer, signal: AbortSignal): Promise<string> {
    if (answer.redirected || answer.url.origin !== this.#base.origin) {
      await this.#http.drop(answer);
      return '';
    }
    try {
      const { errors } = JSON.parse(await this.#http.text(answer, signal)) as { errors?: unknown };
      const [first] = Array.isArray(errors) ? (errors as { code?: unknown; message?: unknown }[]) : [];
      const words = [first?.code, first?.message].filter((word) => typeof word === 'string').join(': ');
      return words === '' ? '' : ` (${words.replace(/[^\x20-\x7e]/g, ' ').slice(0, 200)})`;
    } catch {
      return '';
    }
  }
}

function tagsOf(text: string): readonly string[] | undefined {
  try {
    const { tags } = JSON.parse(text) as { tags?: unknown };
    if (tags === null) return [];
    return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : undefined;
  } catch {
    return undefined;
  }
}
