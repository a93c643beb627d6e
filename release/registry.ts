import type { Artifact, Content } from './oci-content.ts';
import { digestOf } from './oci-content.ts';
import type { RegistryAddress } from './registry-address.ts';
import { addressText } from './registry-address.ts';

/** Name and password, or name and token. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** How a registry is reached. */
export interface RegistryOptions {
  readonly credentials?: Credentials | undefined;
  /** Without TLS: for a registry on one's own machine, never a default. */
  readonly plainHttp?: boolean;
  /** Longest duration of one request, in milliseconds. */
  readonly timeoutMs?: number;
}

/** A registry did not do what was asked; the message names the repository, what was asked and what it said. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
}

const basic = ({ username, password }: Credentials): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

interface Ask {
  readonly method?: string;
  readonly body?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Answers that are no failure beside those below 300. */
  readonly accept?: readonly number[];
}

/** One repository of a registry that speaks the OCI distribution specification 1.1. */
export class Registry {
  readonly #address: RegistryAddress;
  readonly #options: RegistryOptions;
  /** What the registry wants to see, once it has said so. */
  #authorization: string | undefined;

  constructor(address: RegistryAddress, options: RegistryOptions = {}) {
    this.#address = address;
    this.#options = options;
  }

  /**
   * Pushes everything that an artifact consists of, and the tag last, so that it is never visible in part. Returns the digest of its
   * manifest.
   */
  async push(artifact: Artifact, tag: string): Promise<string> {
    await this.#pushParts(artifact);
    await this.#putManifest(artifact.manifest, tag);
    return artifact.manifest.descriptor.digest;
  }

  /** The manifest of a tag or digest; undefined when there is none. */
  async manifest(reference: string): Promise<Content | undefined> {
    const accept = 'application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json';
    const response = await this.#ask(`manifests/${reference}`, { headers: { accept }, accept: [404] });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.status === 404) return undefined;
    const mediaType = response.headers.get('content-type') ?? '';
    return { descriptor: { mediaType, digest: digestOf(bytes), size: bytes.length }, bytes };
  }

  /** A blob, checked against its digest. */
  async blob(digest: string): Promise<Uint8Array> {
    const bytes = new Uint8Array(await (await this.#ask(`blobs/${digest}`)).arrayBuffer());
    if (digestOf(bytes) !== digest)
      throw new RegistryError(`${this.#name()}: the content does not match the digest ${digest}`);
    return bytes;
  }

  async #pushParts({ blobs, manifests = [] }: Artifact): Promise<void> {
    for (const blob of blobs) await this.#pushBlob(blob);
    for (const inner of manifests) {
      await this.#pushParts(inner);
      await this.#putManifest(inner.manifest, inner.manifest.descriptor.digest);
    }
  }

  async #pushBlob({ descriptor: { digest }, bytes }: Content): Promise<void> {
    const known = await this.#ask(`blobs/${digest}`, { method: 'HEAD', accept: [404] });
    if (known.status === 200) return;
    const begun = await this.#ask('blobs/uploads/', { method: 'POST' });
    await begun.arrayBuffer();
    const location = begun.headers.get('location');
    if (location === null) throw new RegistryError(`${this.#name()} does not say where to upload a blob`);
    const url = new URL(location, this.#base());
    url.searchParams.set('digest', digest);
    await this.#ask(url, { method: 'PUT', body: bytes, headers: { 'content-type': 'application/octet-stream' } });
  }

  async #putManifest({ descriptor, bytes }: Content, reference: string): Promise<void> {
    const headers = { 'content-type': descriptor.mediaType };
    await this.#ask(`manifests/${reference}`, { method: 'PUT', body: bytes, headers });
  }

  #base(): string {
    const { host, path } = this.#address;
    return `${this.#options.plainHttp === true ? 'http' : 'https'}://${host}/v2/${path}/`;
  }

  #name(): string {
    return addressText(this.#address);
  }

  async #ask(where: string | URL, ask: Ask = {}): Promise<Response> {
    const url = new URL(where, this.#base());
    let response = await this.#send(url, ask);
    if (response.status === 401) {
      const challenge = response.headers.get('www-authenticate') ?? '';
      await response.arrayBuffer();
      const answer = await this.#answerTo(challenge);
      // Asked again with the same answer, a registry means no.
      if (answer !== undefined && answer !== this.#authorization) {
        this.#authorization = answer;
        response = await this.#send(url, ask);
      }
    }
    if (response.ok || (ask.accept ?? []).includes(response.status)) return response;
    const said = (await response.text()).slice(0, 500);
    const remedy = [401, 403].includes(response.status)
      ? ': set REGISTRY_USERNAME and REGISTRY_PASSWORD to an account that may write there'
      : '';
    throw new RegistryError(
      `${this.#name()} answered ${response.status} to ${ask.method ?? 'GET'} ${url.pathname}${remedy}. Response: ${said}`,
    );
  }

  async #send(url: URL, { method = 'GET', body, headers }: Ask): Promise<Response> {
    // An upload may lead to another host, which must not learn the password.
    const isOurs = url.host === this.#address.host;
    const authorization = isOurs && this.#authorization !== undefined ? { authorization: this.#authorization } : {};
    try {
      return await fetch(url, {
        method,
        headers: { ...headers, ...authorization },
        signal: AbortSignal.timeout(this.#options.timeoutMs ?? 300_000),
        ...(body !== undefined && { body: Buffer.from(body) }),
      });
    } catch (error) {
      const why = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      const remedy = this.#options.plainHttp === true ? '' : ' (--plain-http is for a registry without TLS)';
      throw new RegistryError(`${this.#name()} cannot be reached at ${url.origin}: ${why}${remedy}`, { cause: error });
    }
  }

  /** What to show after a challenge: the password itself, or a token that is got for it (distribution, “Token authentication”). */
  async #answerTo(challenge: string): Promise<string | undefined> {
    const { credentials } = this.#options;
    if (/^basic\b/i.test(challenge)) return credentials === undefined ? undefined : basic(credentials);
    const parts = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]));
    const realm = parts.get('realm');
    if (!/^bearer\b/i.test(challenge) || realm === undefined) return undefined;
    const url = new URL(realm);
    if (url.protocol !== 'https:' && this.#options.plainHttp !== true) {
      throw new RegistryError(
        `${this.#name()} refers to ${url.origin} for tokens, without TLS: the password is not sent there`,
      );
    }
    const service = parts.get('service');
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.set('scope', `repository:${this.#address.path}:pull,push`);
    const headers = credentials === undefined ? {} : { authorization: basic(credentials) };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(30_000) });
    if (!response.ok)
      throw new RegistryError(`${url.origin} issued no token for ${this.#name()}: it answered ${response.status}`);
    const { token, access_token: accessToken } = (await response.json()) as { token?: string; access_token?: string };
    const found = token ?? accessToken;
    return found === undefined ? undefined : `Bearer ${found}`;
  }
}
