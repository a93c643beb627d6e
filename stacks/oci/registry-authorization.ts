import { SourceUnavailableError } from '../asset-errors.ts';
import type { SourceHttp } from '../http/source-http.ts';
import { parseChallenge } from './challenge.ts';
import type { RepositoryAddress } from './repository-address.ts';

/** Who asks a registry: somebody with a password, or the bearer of an access token. */
export type RegistryCredentials =
  | { readonly username: string; readonly password: string }
  /** What `OCI_ACCESS_TOKEN` holds. It is shown in base64, as the Go operator of cluster stacks shows it and as ghcr.io expects it. */
  | { readonly token: string };

/** What is asked for: to read, or to write too. */
export type RegistryScope = 'pull' | 'pull,push';

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

/** What a repository of a registry is shown: nothing until it asks, then what it asks for. */
export class RegistryAuthorization {
  readonly #http: SourceHttp;
  readonly #address: RepositoryAddress;
  readonly #credentials: RegistryCredentials | undefined;
  readonly #plainHttp: boolean;
  readonly #known = new Map<RegistryScope, string>();

  constructor(
    http: SourceHttp,
    address: RepositoryAddress,
    options: { readonly credentials?: RegistryCredentials | undefined; readonly plainHttp: boolean },
  ) {
    this.#http = http;
    this.#address = address;
    this.#credentials = options.credentials;
    this.#plainHttp = options.plainHttp;
  }

  /** What was good the last time. */
  known(scope: RegistryScope): string | undefined {
    return this.#known.get(scope) ?? this.#known.get('pull,push');
  }

  /**
   * What answers a challenge.
   * @returns undefined when there is nothing to answer with.
   * @throws SourceUnavailableError when a token is refused.
   */
  async answer(header: string | undefined, scope: RegistryScope, signal: AbortSignal): Promise<string | undefined> {
    const challenge = parseChallenge(header);
    const found =
      challenge === undefined
        ? undefined
        : challenge.scheme === 'basic'
          ? this.#basic()
          : await this.#bearer(challenge, scope, signal);
    if (found !== undefined) this.#known.set(scope, found);
    return found;
  }

  #basic(): string | undefined {
    const credentials = this.#credentials;
    return credentials === undefined || 'token' in credentials
      ? undefined
      : `Basic ${base64(`${credentials.username}:${credentials.password}`)}`;
  }

  async #bearer(
    { realm, service }: { readonly realm: string; readonly service?: string },
    scope: RegistryScope,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (this.#credentials !== undefined && 'token' in this.#credentials)
      return `Bearer ${base64(this.#credentials.token)}`;
    const url = URL.parse(realm);
    if (url === null || (url.protocol !== 'https:' && !this.#plainHttp)) {
      throw new SourceUnavailableError(
        `${this.#name} sends for tokens to ${url?.origin ?? 'what is no address'}, without TLS: a password is not shown there`,
      );
    }
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.set('scope', `repository:${this.#address.path}:${scope}`);
    const answer = await this.#http.send({ url, authorization: this.#basic() }, signal);
    if (answer.status !== 200) {
      await this.#http.drop(answer);
      const remedy = this.#credentials === undefined ? 'it may want credentials' : 'are the credentials right?';
      throw new SourceUnavailableError(
        `${url.origin} gives no token for ${this.#name}: it answers ${answer.status}; ${remedy}`,
      );
    }
    const token = tokenOf(await this.#http.text(answer, signal));
    if (token === undefined)
      throw new SourceUnavailableError(`${url.origin} gives no token for ${this.#name}: there is none in its answer`);
    return `Bearer ${token}`;
  }

  get #name(): string {
    return `${this.#address.host}/${this.#address.path}`;
  }
}

/** Both names are in use (distribution, “Token response fields”). What cannot stand in a header is none. */
function tokenOf(text: string): string | undefined {
  try {
    const { token, access_token: accessToken } = JSON.parse(text) as { token?: unknown; access_token?: unknown };
    const found = token ?? accessToken;
    return typeof found === 'string' && /^[\x21-\x7e]{1,16384}$/.test(found) ? found : undefined;
  } catch {
    return undefined;
  }
}
