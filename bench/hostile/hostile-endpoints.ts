import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';

/** What an endpoint does to clients. */
export const hostilities = ['refuse', 'cut', 'error', 'silent', 'hang', 'bare'] as const;
export type Hostility = (typeof hostilities)[number];

/** Requests an endpoint from the process of the endpoints, which answers with `Opened`. */
export interface Wanted {
  readonly name: string;
  readonly does: Hostility;
  readonly certificate: string;
  readonly key: string;
}

export interface Opened {
  readonly name: string;
  readonly port: number;
}

const version = JSON.stringify({ major: '1', minor: '36', gitVersion: 'v1.36.3' });

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

function answer(response: Response, code: number, body: string): void {
  response.statusCode = code;
  response.setHeader('content-type', 'application/json');
  response.end(body);
}

/** Answers reads like a healthy server, and hangs on writes. */
function seemsWell({ url = '' }: Request, response: Response): boolean {
  if (url.startsWith('/livez') || url.startsWith('/readyz')) {
    answer(response, 200, 'ok');
    return true;
  }
  if (!url.startsWith('/version')) return false;
  answer(response, 200, version);
  return true;
}

const notFound = JSON.stringify({
  ...{ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 },
  message: 'namespaces "default" not found',
});

const handlers: Readonly<Record<'error' | 'hang' | 'bare', (request: Request, to: Response) => void>> = {
  error: (_request, response) => {
    answer(response, 500, JSON.stringify({ kind: 'Status', status: 'Failure', code: 500, message: 'no' }));
  },
  hang: (request, response) => {
    if (seemsWell(request, response) || request.method !== 'GET') return;
    answer(
      response,
      200,
      JSON.stringify({ kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items: [] }),
    );
  },
  bare: (request, response) => {
    if (!seemsWell(request, response)) answer(response, 404, notFound);
  },
};

function serverOf({ does, certificate, key }: Wanted): Server {
  if (does === 'cut') return createServer((socket) => socket.destroy());
  if (does === 'silent' || does === 'refuse')
    return createServer((socket) => socket.on('error', () => socket.destroy()));
  return createSecureServer({ cert: certificate, key, allowHTTP1: true }, handlers[does]);
}

function open(wanted: Wanted): void {
  const server = serverOf(wanted);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    if (wanted.does === 'refuse') server.close();
    process.send?.({ name: wanted.name, port } satisfies Opened);
  });
}

if (process.send !== undefined) {
  process.on('message', (wanted: Wanted) => {
    open(wanted);
  });
  // Without whom it serves it has nothing to do.
  process.on('disconnect', () => process.exit(0));
}
