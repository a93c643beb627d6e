import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Dispatcher } from 'undici';
import { Agent } from 'undici';

import { describeFailure, failureCode } from '../../../runtime/observe/describe-failure.ts';
import { BadReleaseError, SourceUnavailableError } from '../asset-errors.ts';
import type { AssetLimits } from '../asset-limits.ts';
import type { Reach } from './address-reach.ts';
import { ClosedPlaceError, ReachGuard } from './reach-guard.ts';

/** How a source is reached. */
export interface SourceHttpOptions {
  /** How messages name the source. */
  readonly name: string;
  /** The source's address. It may point to public addresses, and otherwise only to addresses of its own kind. */
  readonly home: URL;
  /** `host:port` addresses that are never allowed, such as the API server of the management cluster. */
  readonly closed?: readonly string[] | undefined;
  readonly limits: AssetLimits;
  /** Permits requests without TLS, also to what the source redirects to. */
  readonly plainHttp?: boolean | undefined;
  /** How messages name the setting that permits this; by default the field of a source. */
  readonly plainHttpSetting?: string | undefined;
  /** CA certificates in PEM that are trusted instead of the well-known CAs. */
  readonly certificateAuthority?: string | undefined;
  /** From where addresses can be reached; by default according to their ranges. */
  readonly reach?: ((address: string) => Reach) | undefined;
}

/** A request. */
export interface SourceRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly authorization?: string | undefined;
  readonly body?: Uint8Array;
}

/** A response whose body was not read yet: `SourceHttp.text` or `save` read it, `SourceHttp.drop` discards it. */
export interface SourceAnswer {
  readonly status: number;
  /** The URL after redirects. */
  readonly url: URL;
  readonly redirected: boolean;
  header(name: string): string | undefined;
  readonly body: Dispatcher.ResponseData['body'];
}

const connectTimeoutMs = 10_000;
const maxRedirects = 5;
const redirects = new Set([301, 302, 303, 307, 308]);

/**
 * Requests to an untrusted source: bounded in size and time, redirected at most five times, with credentials only for the address
 * they are for, and never to addresses further inside than the source itself. Idle connections are closed within seconds.
 */
export class SourceHttp {
  readonly #options: SourceHttpOptions;
  readonly #agent: Agent;
  readonly #guard: ReachGuard;

  constructor(options: SourceHttpOptions) {
    this.#options = options;
    const { certificateAuthority: ca, limits, home, closed = [], reach } = options;
    // The connector decides about the protocol; undici's default is HTTP/2 if the server offers it.
    const connection = { timeout: connectTimeoutMs, allowH2: false, ca };
    this.#guard = new ReachGuard({ home, closed, connection, reach });
    this.#agent = new Agent({
      connections: 4,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: 32 * 1024,
      headersTimeout: limits.documentTimeoutMs,
      bodyTimeout: limits.silenceMs,
      keepAliveTimeout: 4000,
      keepAliveMaxTimeout: 4000,
      connect: this.#guard.connect,
    });
  }

  /**
   * Sends a request, and follows redirects if it only reads.
   * @throws SourceUnavailableError when there is no response, or a redirect that may not be followed.
   */
  async send(request: SourceRequest, signal: AbortSignal): Promise<SourceAnswer> {
    const { method = 'GET' } = request;
    let { url } = request;
    let isThere = true;
    for (let hops = 0; hops <= maxRedirects; hops += 1) {
      this.#mayGoTo(url);
      // After a redirect to another origin there are no credentials anymore, even if it leads back.
      isThere &&= url.origin === request.url.origin;
      const answer = await this.#once(
        { ...request, url, authorization: isThere ? request.authorization : undefined },
        signal,
      );
      const location = answer.header('location');
      if (!redirects.has(answer.status) || location === undefined || method === 'POST' || method === 'PUT') {
        return { ...answer, redirected: hops > 0 };
      }
      await this.drop(answer);
      url = this.#parsed(location, url);
    }
    throw new SourceUnavailableError(
      `${this.#options.name} redirects ${request.url.pathname} more than ${maxRedirects} times, last to ${url.origin}`,
    );
  }

  /** The whole text of a short answer. */
  async text(answer: SourceAnswer, signal: AbortSignal): Promise<string> {
    return (await this.bytes(answer, signal)).toString('utf8');
  }

  /** All bytes of a short answer. */
  async bytes(answer: SourceAnswer, signal: AbortSignal): Promise<Buffer> {
    const { maxDocumentBytes, documentTimeoutMs } = this.#options.limits;
    const parts: Buffer[] = [];
    let size = 0;
    await this.#read(answer, { signal, timeoutMs: documentTimeoutMs }, (part) => {
      size += part.length;
      if (size > maxDocumentBytes) {
        throw new BadReleaseError(
          `${this.#options.name} returned more than ${maxDocumentBytes} bytes for ${answer.url.pathname}, which is too large for such a document`,
        );
      }
      parts.push(part);
    });
    return Buffer.concat(parts, size);
  }

  /**
   * Writes the body into a new file, never more than `maxBytes` of it.
   * @returns its size and its digest, as `sha256:<hex>`.
   */
  async save(
    answer: SourceAnswer,
    to: { readonly file: string; readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<{ readonly size: number; readonly digest: string }> {
    const handle = await open(to.file, 'wx', 0o644);
    try {
      return await this.#measure(answer, to.maxBytes, { signal, take: (part) => handle.writeFile(part) });
    } finally {
      await handle.close();
    }
  }

  /** The digest of a body that is not stored, never read beyond `maxBytes`. */
  async digest(answer: SourceAnswer, maxBytes: number, signal: AbortSignal): Promise<string> {
    return (await this.#measure(answer, maxBytes, { signal, take: () => undefined })).digest;
  }

  /** Discards a body without waiting for the rest of it. */
  async drop(answer: Pick<SourceAnswer, 'body'>): Promise<void> {
    await answer.body.dump({ limit: 16 * 1024 }).catch(() => undefined);
  }

  async #once(request: SourceRequest, signal: AbortSignal): Promise<Omit<SourceAnswer, 'redirected'>> {
    const { method = 'GET', url, headers, authorization, body } = request;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#options.limits.releaseTimeoutMs)]);
    try {
      const {
        statusCode,
        headers: received,
        body: stream,
      } = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        signal: limit,
        headers: {
          'user-agent': 'steward',
          // A compressed answer would be larger than it says.
          'accept-encoding': 'identity',
          ...headers,
          ...(authorization !== undefined && { authorization }),
        },
        ...(body !== undefined && { body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) }),
      });
      // The reader of the body adds its own listener; an error of a body that is not read must not end the process.
      stream.on('error', () => undefined);
      const header = (name: string): string | undefined => {
        const value = received[name];
        return Array.isArray(value) ? value.join(', ') : value;
      };
      return { status: statusCode, url, header, body: stream };
    } catch (error) {
      throw this.#failure(error, url, signal);
    }
  }

  async #measure(
    answer: SourceAnswer,
    maxBytes: number,
    reader: { readonly signal: AbortSignal; readonly take: (part: Buffer) => Promise<void> | undefined },
  ): Promise<{ readonly size: number; readonly digest: string }> {
    const hash = createHash('sha256');
    let size = 0;
    const { releaseTimeoutMs: timeoutMs } = this.#options.limits;
    await this.#read(answer, { signal: reader.signal, timeoutMs }, async (part) => {
      size += part.length;
      if (size > maxBytes) {
        throw new BadReleaseError(
          `${this.#options.name} returned more than the expected ${maxBytes} bytes for ${answer.url.pathname}`,
        );
      }
      hash.update(part);
      await reader.take(part);
    });
    return { size, digest: `sha256:${hash.digest('hex')}` };
  }

  async #read(
    answer: SourceAnswer,
    limit: { readonly signal: AbortSignal; readonly timeoutMs: number },
    take: (part: Buffer) => void | Promise<void>,
  ): Promise<void> {
    const tooLate = new SourceUnavailableError(
      `${this.#options.name} did not finish its response for ${answer.url.pathname} within ${limit.timeoutMs / 1000} s`,
    );
    const { body } = answer;
    const leave = (): void => {
      body.destroy(limit.signal.reason as Error);
    };
    if (limit.signal.aborted) leave();
    limit.signal.addEventListener('abort', leave, { once: true });
    const timer = setTimeout(() => {
      body.destroy(tooLate);
    }, limit.timeoutMs);
    try {
      for await (const part of body) await take(part as Buffer);
    } catch (error) {
      if (error instanceof BadReleaseError || error instanceof SourceUnavailableError) throw error;
      throw this.#failure(error, answer.url, limit.signal);
    } finally {
      clearTimeout(timer);
      limit.signal.removeEventListener('abort', leave);
    }
  }

  #parsed(location: string, base: URL): URL {
    const url = URL.parse(location, base.href);
    if (url === null) {
      throw new SourceUnavailableError(`${this.#options.name} redirects ${base.pathname} to an invalid URL`);
    }
    return url;
  }

  #mayGoTo(url: URL): void {
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && this.#options.plainHttp === true)) {
      throw new SourceUnavailableError(
        `${this.#options.name} points to ${url.origin} without TLS: only a source with plainHTTP may do that`,
      );
    }
    try {
      this.#guard.check(url);
    } catch (error) {
      throw this.#closed(error, url) ?? error;
    }
  }

  #closed(error: unknown, url: URL): SourceUnavailableError | undefined {
    if (!(error instanceof ClosedPlaceError)) return undefined;
    return new SourceUnavailableError(`${this.#options.name} points to ${url.origin}, ${error.message}`, {
      cause: error,
    });
  }

  #failure(error: unknown, url: URL, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    const closed = this.#closed(error, url);
    if (closed !== undefined) return closed;
    const code = failureCode(error) ?? '';
    // OpenSSL's own messages contain names of its source files.
    const message = code.startsWith('ERR_SSL_') ? `TLS failed (${code})` : describeFailure(error);
    return new SourceUnavailableError(
      `${this.#options.name} cannot be reached at ${url.origin}: ${message}${this.#remedy(code)}`,
      { cause: error },
    );
  }

  #remedy(code: string): string {
    if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
      const setting = this.#options.plainHttpSetting ?? 'plainHTTP of the source';
      return `; the server does not speak TLS: set ${setting} for a registry without TLS`;
    }
    if (/CERT|SIGNATURE|ISSUER/.test(code)) return '; if the server has a CA of its own, set caSecretRef of the source';
    return '';
  }
}
