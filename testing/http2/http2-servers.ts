import { createServer } from 'node:http2';
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Answers a request. */
export type Http2Answer = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** A server without TLS, and the sessions that clients have opened so far. */
export interface Served {
  readonly server: Http2Server;
  readonly url: string;
  readonly opened: ServerHttp2Session[];
}

/** Servers on free ports of loopback, for clients under test. They end when this is disposed of, with their connections. */
export class Http2Servers implements Disposable {
  readonly #ends: (() => void)[] = [];

  /** A server over HTTP/2 without TLS. */
  async serve(answer: Http2Answer = () => undefined): Promise<Served> {
    const server = createServer();
    const opened = this.answering(server, answer);
    return { server, url: `http://127.0.0.1:${await this.listen(server)}`, opened };
  }

  /** Lets a server over HTTP/2 answer. Errors of its clients do not end the process. Returns the sessions that will have been opened. */
  answering(server: Http2Server, answer: Http2Answer): ServerHttp2Session[] {
    const opened: ServerHttp2Session[] = [];
    server.on('session', (session) => {
      opened.push(session);
      session.on('error', () => undefined);
    });
    server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      answer(stream, headers);
    });
    this.#ends.push(() => {
      for (const session of opened) session.destroy();
    });
    return opened;
  }

  /** Lets any server listen; returns its port. */
  async listen(server: Server): Promise<number> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket) => sockets.add(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#ends.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  [Symbol.dispose](): void {
    for (const end of this.#ends.splice(0)) end();
  }
}
