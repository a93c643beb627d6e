import type { Logger } from '../runtime/observe/logger.ts';

/** What reached the last resort since the process began. */
export interface UnhandledErrors {
  readonly rejections: number;
  readonly exceptions: number;
}

/** As much of a process as is needed. */
export interface Host {
  on(event: 'unhandledRejection' | 'uncaughtException', listener: (error: unknown) => void): unknown;
  exit(code: number): void;
}

/** What connections fail with: codes of the operating system, of TLS, of HTTP and of HTTP/2. */
const ofConnections =
  /^(E(CONN|PIPE|TIMEDOUT|HOST|NET|ADDRNOTAVAIL|AI_|NOTFOUND|PROTO)|HPE_|UND_ERR_|ERR_(HTTP2?_|SSL_|TLS_|STREAM_|SOCKET_|OSSL_))/;

/**
 * Catches what no code of ours caught; a lint rule and `detached` keep promises from getting here.
 *
 * After a rejection the process goes on: the work that failed has ended, and what it left behind is what a reconcile that is cut off
 * leaves, which the next one repairs. After an exception of a connection it goes on too: what failed is a socket that nobody listened
 * to any more, and otherwise a stranger could end the process by hanging up at the right moment. Any other exception came from the
 * middle of a callback of ours whose state may be half changed: then the process ends, since a restart converges to the same objects
 * and a broken state does not. No request leads there, since servers catch whatever an answer throws (runtime/server/answer-requests.ts).
 */
export class LastResort {
  #log: Pick<Logger, 'error'>;
  #rejections = 0;
  #exceptions = 0;

  constructor(host: Host, log: Pick<Logger, 'error'>) {
    this.#log = log;
    host.on('unhandledRejection', (error) => {
      this.#rejections += 1;
      this.#log.error('unhandled rejection; the process continues', { error });
    });
    host.on('uncaughtException', (error) => {
      this.#exceptions += 1;
      if (isOfConnection(error)) {
        this.#log.error('unhandled error of a connection; the process continues', { error });
        return;
      }
      this.#log.error('uncaught exception; the process exits, because its state may be broken', { error });
      host.exit(1);
    });
  }

  /** From now on this log is told. */
  use(log: Pick<Logger, 'error'>): void {
    this.#log = log;
  }

  get errors(): UnhandledErrors {
    return { rejections: this.#rejections, exceptions: this.#exceptions };
  }
}

function isOfConnection(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && ofConnections.test(code);
}
