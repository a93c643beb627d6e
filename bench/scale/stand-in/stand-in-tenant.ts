import { createSecureServer } from 'node:http2';
import type { Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { answerRequest } from './answer-request.ts';
import type { ServingTenant } from './real-tenant.ts';
import type { StandInRequest, StandInResponse } from './answer-request.ts';

/** With what one tenant's API server serves. PEM texts. */
export interface ServingFiles {
  readonly certificate: string;
  readonly key: string;
  /** Who signs the certificates of its clients. */
  readonly clientCa: string;
}

/** Who asks: the probe of metrics, the line of watches for drift, or a call of a reconcile. */
export type Asker = 'probe' | 'line' | 'call';

/** Lists and watches for drift want metadata, and no bookmarks. */
const isOfLine = ({ headers, url = '' }: StandInRequest): boolean =>
  (headers.accept ?? '').includes('as=PartialObjectMetadata') && !url.includes('allowWatchBookmarks');

/** How long kube-apiserver keeps a connection over HTTP/1.1 that nobody uses. */
const idleMs = 90_000;

/** Answered without a client certificate, as kube-apiserver does. */
const open: ReadonlySet<string> = new Set(['/livez', '/readyz', '/healthz', '/version']);

/**
 * The API server of one tenant: the API over TLS, HTTP/1.1 and HTTP/2, with the tenant's own certificate, for clients whose certificate
 * the tenant's CA signed. Its objects are in memory. The README of `bench` says what it leaves out.
 */
export class StandInTenant implements ServingTenant {
  readonly #cluster: FakeCluster;
  readonly #server: Http2SecureServer;
  readonly #sockets = new Set<Socket>();
  #files: ServingFiles;

  /** @param version such as `v1.36.3`. */
  constructor(files: ServingFiles, version: string, asked: (by: Asker) => void) {
    const [major, minor] = version.slice(1).split('.');
    this.#cluster = new FakeCluster({
      // Its schemas are those of Kubernetes, and what Steward writes fits them.
      admit: (_kind, object) => object,
      collectsGarbage: false,
      texts: { '/version': JSON.stringify({ major, minor, gitVersion: version }), '/metrics': '' },
    });
    this.#files = files;
    this.#server = createSecureServer(
      { ...secrets(files), allowHTTP1: true, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        this.#answer(request, response, asked);
      },
    );
    // The types of HTTP/2 do not know it.
    Object.assign(this.#server, { keepAliveTimeout: idleMs });
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    // A client that breaks a connection off harms only itself.
    this.#server.on('sessionError', () => undefined);
  }

  /** Open connections now. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Serves from now on, if it does not already. */
  async listen(host: string, port: number): Promise<void> {
    if (this.#server.listening) return;
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    this.#server.once('error', reject);
    this.#server.listen(port, host, () => {
      resolve(undefined);
    });
    await promise;
  }

  /** Serves with other files from now on; open connections stay. */
  use(files: ServingFiles): void {
    if (JSON.stringify(files) === JSON.stringify(this.#files)) return;
    this.#files = files;
    this.#server.setSecureContext(secrets(files));
  }

  /** Stops serving and ends all connections, as the end of the only pod does. What it holds stays. */
  async pause(): Promise<void> {
    if (!this.#server.listening) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#server.close(() => {
      resolve(undefined);
    });
    for (const socket of this.#sockets) socket.destroy();
    await promise;
  }

  #answer(request: StandInRequest, response: StandInResponse, asked: (by: Asker) => void): void {
    const isProbe = request.headers['user-agent'] === 'steward-probe';
    asked(isProbe ? 'probe' : isOfLine(request) ? 'line' : 'call');
    const [pathname = ''] = (request.url ?? '').split('?');
    if (!open.has(pathname) && !(request.socket as TLSSocket).authorized) {
      const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Unauthorized', code: 401 };
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify(status));
      return;
    }
    answerRequest(this.#cluster.admin, request, response).catch(() => response.destroy());
  }
}

const secrets = ({ certificate, key, clientCa }: ServingFiles): object => ({ cert: certificate, key, ca: clientCa });
