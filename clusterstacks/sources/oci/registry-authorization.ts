import { SourceUnavailableError } from '../asset-errors.ts';
import type { SourceHttp } from '../http/source-http.ts';
import { parseChallenge } from './challenge.ts';
import type { RepositoryAddress } from './repository-address.ts';

/** Credentials for a registry: a user name with a password, or an access token. */
export type RegistryCredentials =
  | { readonly username: string; readonly password: string }
  /** The value of `OCI_ACCESS_TOKEN`. It is sent in base64, as the Go operator of cluster stacks sends it and as ghcr.io expects it. */
  | { readonly token: string };

/** Read access, or read and write access. */
export type RegistryScope = 'pull' | 'pull,push';

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

/** The `Authorization` header for a repository: none until the registry requires one. */
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

  /** The header that worked the last time. */
  known(scope: RegistryScope): string | undefined {
    return this.#known.get(scope) ?? this.#known.get('pull,push');
  }

  /**
   * The header that answers a challenge.
   * @returns undefined when there are no suitable credentials.
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
        `${this.#name} points to ${url?.origin ?? 'an invalid URL'} for tokens, which is not an https address: no password is sent there`,
      );
    }
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.set('scope', `repository:${this.#address.path}:${scope}`);
    const answer = await this.#http.send({ url, authorization: this.#basic() }, signal);
    if (answer.status !== 200) {
      await this.#http.drop(answer);
      const remedy = this.#credentials === undefined ? 'it may require credentials' : 'check the credentials';
      throw new SourceUnavailableError(
        `${url.origin} issued no token for ${this.#name}: it returned ${answer.status}; ${remedy}`,
      );
    }
    const token = tokenOf(await this.#http.text(answer, signal));
    if (token === undefined)
      throw new SourceUnavailableError(`${url.origin} issued no token for ${this.#name}: its response has none`);
    return `Bearer ${token}`;
  }

  get #name(): string {
    return `${this.#address.host}/${this.#address.path}`;
  }
}

/** Both names are in use (distribution, “Token response fields”). A text that cannot be part of a header is not a token. */
function tokenOf(text: string): string | undefined {
  try {
    const { token, access_token: accessToken } = JSON.parse(text) as { token?: unknown; access_token?: unknown };
    const found = token ?? accessToken;
    return typeof found === 'string' && /^[\x21-\x7e]{1,16384}$/.test(found) ? found : undefined;
  } catch {
    return undefined;
  }
}
