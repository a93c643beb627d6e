import type { ByteStream } from '../watch-stream.ts';

/** One request, with all of its headers. */
export interface Exchange {
  readonly method: string;
  /** With query, and with the path prefix of the server. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Called right before it is sent, after every wait for a connection; if it throws, it is not sent. Not called over HTTP/2. */
  readonly maySend?: () => void;
  /** Ends the exchange, also while the answer's body is read. */
  readonly signal: AbortSignal;
}

/** The beginning of an answer. Its body must be read to the end or destroyed. */
export interface Exchanged {
  readonly code: number;
  readonly retryAfter: string | undefined;
  readonly body: ByteStream;
}

/** Carries requests to one server over connections that are kept. */
export interface Exchanger {
  /** A request whose answer ends. Rejects with the signal's reason, or with why there is no answer. */
  call(exchange: Exchange): Promise<Exchanged>;
  /** A request whose answer goes on. */
  watch(exchange: Exchange): Promise<Exchanged>;
  /** Lets calls that were begun finish, and takes no more. Watches must have been ended by their signals. */
  close(): Promise<void>;
}
