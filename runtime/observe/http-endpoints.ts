import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ServingPair } from '../admission/admission-server.ts';
import { answerRequests, handshakeTimeout, serverOptions } from '../server/answer-requests.ts';
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import type { Cluster } from '../client/cluster.ts';
import type { ConnectionLimit } from '../server/connection-limit.ts';
import type { HealthCheck } from './health-check.ts';
import type { Logger } from './logger.ts';
import { parseTarget } from '../server/request-target.ts';
import type { Refusal, Wanted } from './scrape-access.ts';

/** What a page answers. */
export interface Page {
  readonly code: number;
  readonly type: string;
  readonly body: string;
}

/** Answers a path, and everything below it when the path ends in a slash. */
export type Pages = Readonly<Record<string, (path: string, query: URLSearchParams) => Page | Promise<Page>>>;

/**
 * `/healthz` fails if the process should be restarted; `/readyz` if it cannot work at present, with the reasons. Each check
 * also has its own path, e.g. `/readyz/informer-sync`, and `?verbose` lists all. If an optional part waits, this is in the
 * list and fails only its own path.
 */
export function healthPages(checks: {
  readonly alive: readonly HealthCheck[];
  readonly ready: readonly HealthCheck[];
}): Pages {
  const pages = (root: string, list: readonly HealthCheck[]): Pages => ({
    [`/${root}`]: (_, query) => verdict(root, list, query.has('verbose')),
    [`/${root}/`]: (path) => {
      const name = path.slice(root.length + 2);
      const check = list.find((one) => one.name === name);
      return check === undefined
        ? text(404, `there is no check ${name}\n`)
        : verdict(root, [{ name, check: () => check.check() }], false);
    },
  });
  return { ...pages('healthz', checks.alive), ...pages('readyz', checks.ready) };
}

/** Prometheus' text format; 500 with the reason when a collector fails. */
export function metricsPages(registry: { readonly contentType: string; metrics(): Promise<string> }): Pages {
  return { '/metrics': async () => ({ code: 200, type: registry.contentType, body: await registry.metrics() }) };
}

/**
 * Ready while the API server has sent something within `staleMs`. A watch gets a bookmark about every minute. The clock on the wall does not
 * count: it may be set.
 */
export function contactCheck(
  cluster: Pick<Cluster, 'name' | 'lastContact'>,
  clock: Pick<Clock, 'monotonic'>,
  staleMs = 120_000,
): HealthCheck {
  return {
    name: `${cluster.name}-contact`,
    check: () => {
      const last = cluster.lastContact();
      if (last === undefined) return 'the API server has not answered yet';
      const seconds = Math.round((clock.monotonic() - last) / 1000);
      return seconds * 1000 <= staleMs ? undefined : `no contact with the API server for ${seconds} s`;
    },
  };
}

/** Some kubelets and scrapers, each with a connection or two. */
const mostConnections = 128;

/** Denies access to unauthorized clients. */
export interface Guard {
  readonly pair: ServingPair;
  /** Why a request is not answered; undefined when it is. */
  readonly refusal: (wanted: Wanted) => Promise<Refusal | undefined>;
}

export interface EndpointOptions {
  readonly clock?: Clock;
  /** Pages are served over TLS to the clients that it authorizes; without it over plain HTTP to every client. */
  readonly guard?: Guard;
}

/** Serves metrics or probes. Page errors are answered with 500 and logged. */
export class HttpEndpoints {
  readonly #server: Server | TlsServer;
  readonly #connections: ConnectionLimit;

  constructor(pages: Pages, log: Logger, { clock = systemClock, guard }: EndpointOptions = {}) {
    this.#server =
      guard === undefined
        ? createServer(serverOptions)
        : createTlsServer({ ...serverOptions, ...tlsOf(guard.pair), handshakeTimeout });
    this.#connections = answerRequests(this.#server, {
      ...{ clock, log, mostConnections },
      answer: (request, response) => answer(request, response, { pages, log, guard }),
    });
  }

  /** Listens on `host:port`, `:port` or `[::]:port`, the form of the bind-address flags. Returns the port; 0 chooses one. */
  async listen(bindAddress: string): Promise<number> {
    const match = /^(?:\[(?<v6>[^\]]*)\]|(?<host>[^:]*)):(?<port>\d{1,5})$/.exec(bindAddress);
    if (match?.groups === undefined) {
      throw new Error(`bind address ${bindAddress} is not of the form host:port or :port, e.g. :8081`);
    }
    const { v6, host, port } = match.groups;
    const address = v6 ?? host;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(
        { port: Number(port), ...(address === undefined || address === '' ? {} : { host: address }) },
        () => {
          this.#server.off('error', reject);
          resolve();
        },
      );
    });
    return this.port ?? Number(port);
  }

  /** New connections of a guarded server see this certificate from now on. */
  use(pair: ServingPair): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext(tlsOf(pair));
  }

  /** The port it listens on; undefined when it does not. */
  get port(): number | undefined {
    return (this.#server.address() as AddressInfo | null)?.port;
  }

  /** Accepts no more connections and resolves when the open ones are answered. Does nothing if it does not listen. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
      this.#connections.dropIdle();
    });
  }
}

function tlsOf({ certificate, key }: ServingPair): {
  readonly cert: string;
  readonly key: string;
  readonly minVersion: 'TLSv1.2';
} {
  return { cert: certificate, key, minVersion: 'TLSv1.2' };
}

interface Served {
  readonly pages: Pages;
  readonly log: Logger;
  readonly guard: Guard | undefined;
}

async function answer(request: IncomingMessage, response: ServerResponse, served: Served): Promise<void> {
  const page = await pageFor(request, served);
  // A body that comes along is not read.
  if (hasBody(request)) response.setHeader('connection', 'close');
  response.writeHead(page.code, { 'content-type': page.type, 'x-content-type-options': 'nosniff' });
  response.end(request.method === 'HEAD' ? undefined : page.body);
}

async function pageFor({ url: target, method, headers }: IncomingMessage, served: Served): Promise<Page> {
  const { pages, log, guard } = served;
  const url = parseTarget(target);
  if (url === undefined) return text(400, 'the request target is invalid\n');
  if (method !== 'GET' && method !== 'HEAD') return text(405, 'only GET is allowed here\n');
  try {
    const { authorization } = headers;
    const refusal = await guard?.refusal({ authorization, path: url.pathname, method: method.toLowerCase() });
    if (refusal !== undefined) return text(refusal.code, `${refusal.message}\n`);
    const found = pageAt(pages, url.pathname);
    return found === undefined ? text(404, 'nothing here\n') : await found(url.pathname, url.searchParams);
  } catch (error) {
    log.error('a page could not be served', { path: url.pathname, error });
    return text(500, `${error instanceof Error ? error.message : String(error)}\n`);
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function pageAt(pages: Pages, path: string): Pages[string] | undefined {
  if (Object.hasOwn(pages, path)) return pages[path];
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  return Object.hasOwn(pages, folder) ? pages[folder] : undefined;
}

/** The form of Kubernetes' own health pages: `[+]name ok`, `[-]name failed: why`; `[!]name waits: why` of an optional part. */
function verdict(root: string, checks: readonly HealthCheck[], verbose: boolean): Page {
  const results = checks.map((one) => ({ name: one.name, optional: one.optional ?? false, why: one.check() }));
  const failed = results.some(({ why, optional }) => why !== undefined && !optional);
  if (!failed && !verbose) return text(200, 'ok');
  const lines = results.map(lineOf);
  return text(failed ? 500 : 200, `${[...lines, `${root} check ${failed ? 'failed' : 'passed'}`].join('\n')}\n`);
}

interface Result {
  readonly name: string;
  readonly optional: boolean;
  readonly why: string | undefined;
}

function lineOf({ name, optional, why }: Result): string {
  if (why === undefined) return `[+]${name} ok`;
  return optional ? `[!]${name} waits: ${why}` : `[-]${name} failed: ${why}`;
}

function text(code: number, body: string): Page {
  return { code, type: 'text/plain; charset=utf-8', body };
}
