import type { ExceptionRecord } from './exception-record.ts';
import type { Logger } from '../runtime/observe/logger.ts';

/** What reached the last resort: rejections since the process began, exceptions also of the processes before it. */
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
 * Handles errors that no other code caught; a lint rule and `detached` prevent that promises get here. After a rejection
 * the process continues: the failed work has ended, and left at most what an interrupted reconcile leaves, which the next
 * one repairs. After an exception of a connection it continues too: the error is about a socket without a listener, and
 * otherwise any client could end the process by closing its connection at the right moment. Any other exception may have
 * left half-changed state: then the process ends, because a restart converges to the same objects and a broken state does
 * not. Its count is kept for the next process, because the metrics of this one are not scraped anymore.
 * No request can cause this, because servers catch all errors of an answer (runtime/server/answer-requests.ts).
 */
export class LastResort {
  #log: Pick<Logger, 'error'>;
  #rejections = 0;
  #exceptions = 0;

  constructor(host: Host, log: Pick<Logger, 'error'>, record?: ExceptionRecord) {
    this.#log = log;
    this.#exceptions = record?.read() ?? 0;
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
      record?.write(this.#exceptions);
      this.#log.error('uncaught exception; the process exits, because its state may be broken', { error });
      host.exit(1);
    });
  }

  /** Uses this log from now on. */
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
