import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { ConnectionLimit } from './connection-limit.ts';
import type { Logger } from '../observe/logger.ts';

/** How the requests of a server are answered. */
export interface Answering {
  readonly clock: Clock;
  readonly log: Logger;
  /** Connections that are kept at once. */
  readonly mostConnections: number;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/**
 * The limits of every client, in milliseconds and bytes; options of `createServer`. An idle connection is kept for longer
 * than the 90 s after which Kubernetes' clients close it themselves, so that a request never meets a connection that just
 * ends.
 */
export const serverOptions = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 5_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 120_000,
};

/** How long a TLS handshake may take, in milliseconds. */
export const handshakeTimeout = 10_000;

/** A client that neither sends nor receives a byte for this long counts as gone, in milliseconds. */
const silenceMs = 30_000;
const mostHeaders = 100;

/**
 * Answers a server's requests so that no client can end the process or fill its memory: a failure of an answer ends its
 * connection, input that is not HTTP or TLS closes the connection, and the number of connections is limited.
 */
export function answerRequests(server: HttpServer | HttpsServer, how: Answering): ConnectionLimit {
  const { clock, log, answer, mostConnections: most } = how;
  const limit = new ConnectionLimit({ clock, most, answerMs: silenceMs });
  server.timeout = silenceMs;
  server.maxHeadersCount = mostHeaders;
  server.on('connection', (socket: Socket) => {
    const id = identify(socket);
    // It is over already.
    if (id === undefined) {
      socket.destroy();
      return;
    }
    socket.once('close', () => {
      limit.closed(id);
    });
    limit.opened(id, () => socket.destroy());
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const id = identify(request.socket);
    if (id === undefined || !limit.began(id, request)) {
      request.socket.destroy();
      return;
    }
    response.once('close', () => {
      limit.ended(id, request, response.writableFinished && response.statusCode < 300);
    });
    answer(request, response).catch((error: unknown) => {
      log.error('a request could not be answered; closing its connection', { error });
      request.socket.destroy();
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    log.debug('a request could not be read', { error });
    if (socket.writable)
      socket.write(`HTTP/1.1 ${refusals[error.code ?? ''] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    socket.destroy();
  });
  server.on('tlsClientError', (error: Error, socket: Socket) => {
    log.debug('a TLS handshake failed', { error });
    socket.destroy();
  });
  return limit;
}

const refusals: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** The other end; the same for the connection and for the TLS on it. */
function identify({ remoteAddress, remotePort }: Socket): string | undefined {
  return remoteAddress === undefined || remotePort === undefined ? undefined : `${remoteAddress}|${remotePort}`;
}
