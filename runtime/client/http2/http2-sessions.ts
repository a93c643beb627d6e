import type { Clock } from '../../clock.ts';
import { connectionChecksum } from '../connection.ts';
import type { Connection } from '../connection.ts';
import { unlessAborted } from '../exchange/unless-aborted.ts';
import { tlsTarget } from '../tls-target.ts';
import type { TlsTarget } from '../tls-target.ts';
import { Http2Session, NotHttp2Error } from './http2-session.ts';
import type { Http2SessionOptions } from './http2-session.ts';

/** The right to use the session to one server. */
export interface SessionLease {
  readonly target: TlsTarget;
  /**
   * The session, once it can carry requests: the one that is there, or a new one. Rejects with `NotHttp2Error`, with why the server cannot
   * be reached, or with the signal's reason.
   */
  session(signal?: AbortSignal): Promise<Http2Session>;
  /** The session of the last holder ends when its calls have ended. */
  release(): void;
}

/** So long a server that speaks only HTTP/1.1 is not asked again. */
const rememberMs = 10 * 60_000;

/** Sessions over HTTP/2, one for all users of the same server with the same credentials. */
export class Http2Sessions {
  readonly #options: Http2SessionOptions;
  readonly #links = new Map<string, Link>();

  constructor(options: Http2SessionOptions) {
    this.#options = options;
  }

  /** Servers to which somebody holds a lease. */
  get size(): number {
    return this.#links.size;
  }

  /** Opens nothing yet. Throws `KubeconfigError` for unusable credentials and for plain HTTP. */
  lease(connection: Connection): SessionLease {
    const checksum = connectionChecksum(connection);
    const link = this.#links.get(checksum) ?? new Link(connection, this.#options);
    this.#links.set(checksum, link);
    link.leases += 1;
    let isReleased = false;
    return {
      target: link.target,
      session: (signal) => link.session(signal),
      release: () => {
        if (isReleased) return;
        isReleased = true;
        link.leases -= 1;
        if (link.leases > 0) return;
        this.#links.delete(checksum);
        link.end();
      },
    };
  }
}

/** The session to one server. */
class Link {
  leases = 0;
  readonly target: TlsTarget;
  readonly #origin: string;
  readonly #options: Http2SessionOptions;
  readonly #clock: Clock;
  #session: Http2Session | undefined;
  #isOver = false;
  #refused: { readonly error: NotHttp2Error; readonly until: number } | undefined;

  constructor(connection: Connection, options: Http2SessionOptions) {
    this.target = tlsTarget(connection);
    this.#origin = new URL(connection.server).origin;
    this.#options = options;
    this.#clock = options.clock;
  }

  async session(signal?: AbortSignal): Promise<Http2Session> {
    if (this.#isOver) throw new Error('the connection has been closed');
    if (this.#refused !== undefined && this.#clock.monotonic() < this.#refused.until) throw this.#refused.error;
    const known = this.#session?.failure === undefined ? this.#session : undefined;
    const session = known ?? this.#open();
    const wasReady = session.isReady;
    try {
      await (signal === undefined ? session.ready() : unlessAborted(session.ready(), signal));
    } catch (error) {
      if (error instanceof NotHttp2Error) this.#refused = { error, until: this.#clock.monotonic() + rememberMs };
      // It was there, and is no more.
      else if (wasReady && signal?.aborted !== true) return this.session(signal);
      throw error;
    }
    return session;
  }

  end(): void {
    this.#isOver = true;
    this.#session?.retire(new Error('the connection has been closed'));
  }

  #open(): Http2Session {
    const session = new Http2Session(this.target, this.#origin, this.#options);
    this.#session = session;
    return session;
  }
}
