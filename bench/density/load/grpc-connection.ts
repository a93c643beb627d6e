import { connect as connectHttp2, constants } from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { SecureContext } from 'node:tls';

import { framed, MessageFrames } from './message-frames.ts';
import type { Method } from './etcd-messages.ts';

/** Where a server listens: at a socket of this host, or with TLS at a port of it. */
export type GrpcTarget =
  | { readonly socket: string }
  | { readonly host: string; readonly port: number; readonly context: SecureContext; readonly localAddress: string };

/** kube-apiserver gives up later; nobody waits so long. */
const patienceMs = 10_000;

/**
 * One connection that speaks gRPC, with nothing that a load of thousands of connections does not need: no retries, balancing or backoff,
 * and an address of its own on this side, for an address has only 28,000 ports.
 */
export class GrpcConnection implements Disposable {
  readonly #session: ClientHttp2Session;
  #failure: Error | undefined;

  private constructor(session: ClientHttp2Session) {
    this.#session = session;
    session.on('error', (error: Error) => {
      this.#failure = error;
    });
  }

  /** Resolves when it is connected. */
  static async open(target: GrpcTarget): Promise<GrpcConnection> {
    const session = connectHttp2('socket' in target ? 'http://localhost' : `https://${target.host}:${target.port}`, {
      createConnection: () =>
        'socket' in target
          ? connectSocket(target.socket)
          : connectTls({
              ...{ host: target.host, port: target.port, localAddress: target.localAddress },
              ...{ secureContext: target.context, ALPNProtocols: ['h2'] },
            }),
    });
    const opened = Promise.withResolvers<undefined>();
    session.once('connect', () => {
      opened.resolve(undefined);
    });
    session.once('error', opened.reject);
    const connection = new GrpcConnection(session);
    await opened.promise;
    return connection;
  }

  /** Sends one message and answers with one. */
  call<Answer>(method: Method<Answer>, request: object): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      const stream = this.#request(method.path);
      const parts: Buffer[] = [];
      let trailers: IncomingHttpHeaders = {};
      stream.on('response', (headers) => (trailers = headers));
      stream.on('trailers', (headers: IncomingHttpHeaders) => (trailers = headers));
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.once('error', reject);
      stream.setTimeout(patienceMs, () => {
        stream.close(constants.NGHTTP2_CANCEL);
        reject(new Error(`${method.path}: no answer within ${patienceMs} ms`));
      });
      stream.once('end', () => {
        const failure = failureOf(method.path, trailers);
        const [message] = new MessageFrames().take(Buffer.concat(parts));
        if (failure !== undefined) reject(failure);
        else if (message === undefined) reject(new Error(`${method.path}: an answer without a message`));
        else resolve(method.decode(message));
      });
      stream.end(framed(method.encode(request)));
    });
  }

  /** Sends one message, and hears all that follow until the connection is closed; `ended` says why they end before. */
  stream<Answer>(
    method: Method<Answer>,
    request: object,
    { heard, ended }: { readonly heard: (answer: Answer) => void; readonly ended: (why: Error) => void },
  ): void {
    const stream = this.#request(method.path);
    const frames = new MessageFrames();
    let trailers: IncomingHttpHeaders = {};
    stream.on('trailers', (headers: IncomingHttpHeaders) => (trailers = headers));
    stream.on('data', (part: Buffer) => {
      for (const message of frames.take(part)) heard(method.decode(message));
    });
    stream.once('error', ended);
    stream.once('end', () => {
      ended(failureOf(method.path, trailers) ?? new Error(`${method.path}: the stream has ended`));
    });
    stream.write(framed(method.encode(request)));
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }

  #request(path: string): ClientHttp2Stream {
    return this.#session.request(
      { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' },
      { endStream: false },
    );
  }
}

function failureOf(path: string, trailers: IncomingHttpHeaders): Error | undefined {
  const { 'grpc-status': status, 'grpc-message': message } = trailers;
  if (status === '0') return undefined;
  return new Error(`${path}: ${String(message ?? `status ${String(status ?? 'missing')}`)}`);
}
