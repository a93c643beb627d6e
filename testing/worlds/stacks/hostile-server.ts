import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';

/** A request that came in. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
}

/** An HTTP server of this process that does what a test wants, and records the requests. */
export class HostileServer implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  /** `127.0.0.1:<port>`. */
  readonly host: string;
  readonly origin: string;
  readonly #server: Server & { closeAllConnections(): void };

  private constructor(server: Server & { closeAllConnections(): void }, scheme: string) {
    this.#server = server;
    this.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.origin = `${scheme}://${this.host}`;
  }

  static async start(
    answer: (request: IncomingMessage, response: ServerResponse, self: HostileServer) => void,
    tls?: { readonly key: string; readonly cert: string },
  ): Promise<HostileServer> {
    const listener: RequestListener = (request, response) => {
      const { method = '', url = '', headers } = request;
      self.seen.push({ method, url, authorization: headers.authorization });
      answer(request, response, self);
    };
    const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const self = new HostileServer(server, tls === undefined ? 'http' : 'https');
    return self;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
