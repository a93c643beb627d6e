import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AdmissionHandler } from './admission.ts';
import { answerRequests, handshakeTimeout, serverOptions } from '../server/answer-requests.ts';
import { answerReview, BadReviewError } from './handle-admission-review.ts';
import { BodyReader } from '../server/body-reader.ts';
import type { Clock } from '../clock.ts';
import type { ConnectionLimit } from '../server/connection-limit.ts';
import type { HealthCheck } from '../observe/health-check.ts';
import { HttpError } from '../client/http-error.ts';
import type { JsonCall } from '../client/json-call.ts';
import { BadCallError, answerCall } from '../client/json-call.ts';
import type { Logger } from '../observe/logger.ts';
import { parseTarget } from '../server/request-target.ts';

/** Certificate chain and key, PEM. */
export interface ServingPair {
  readonly certificate: string;
  readonly key: string;
}

/** Counters of the server, per path. */
export interface AdmissionMetrics {
  /** Called at the beginning of a request; the result is called at its end with the HTTP status. */
  began(path: string): (code: number) => void;
  panicked(path: string): void;
}

export interface AdmissionServerOptions {
  /** Rules by path, e.g. `/validate-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane`. */
  readonly handlers: Readonly<Record<string, AdmissionHandler>>;
  /** Handlers at other paths, for other protocols than admission reviews. */
  readonly calls?: Readonly<Record<string, JsonCall>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: AdmissionMetrics;
}

/**
 * One as in controller-runtime, larger than anything etcd stores. Together they may become some hundred MiB of objects, which the
 * memory that the manager is given by default has room for.
 */
const bodyLimits = { largest: 3 * 1024 * 1024, together: 16 * 1024 * 1024 };
/** Some API servers with some dozen connections each. */
const mostConnections = 512;
/** The API server's own default; its `timeout` parameter can shorten it. */
const longestBudgetMs = 10_000;

/** Answers the API server's AdmissionReviews over TLS, and other calls beside. Its certificate can be exchanged while it runs. */
export class AdmissionServer {
  readonly #options: AdmissionServerOptions;
  readonly #bodies = new BodyReader(bodyLimits);
  #server: Server | undefined;
  #connections: ConnectionLimit | undefined;
  #failure: string | undefined;

  constructor(options: AdmissionServerOptions) {
    this.#options = options;
  }

  /** Listens; returns the port, which is chosen free when `port` is 0. Rejects when it is taken. */
  async listen(address: { readonly host: string; readonly port: number }, pair: ServingPair): Promise<number> {
    const tls = { cert: pair.certificate, key: pair.key, minVersion: 'TLSv1.2', handshakeTimeout } as const;
    const server = createServer({ ...serverOptions, ...tls });
    this.#connections = answerRequests(server, {
      ...{ clock: this.#options.clock, log: this.#options.log, mostConnections },
      answer: (request, response) => this.#serve(request, response),
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(address.port, address.host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    server.on('error', (error) => {
      this.#failure = error.message;
      this.#options.log.error('the admission server failed', { error });
    });
    return (server.address() as AddressInfo).port;
  }

  /** New connections see this certificate from now on. Throws when key and certificate do not belong together. */
  use(pair: ServingPair): void {
    this.#server?.setSecureContext({ cert: pair.certificate, key: pair.key, minVersion: 'TLSv1.2' });
  }

  /** Accepts no more connections and resolves when the running requests are answered. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    await new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
      this.#connections?.dropIdle();
    });
  }

  /** Whether it listens. */
  get health(): HealthCheck {
    return {
      name: 'webhook-server',
      check: () => {
        if (this.#failure !== undefined) return this.#failure;
        return this.#server?.listening === true ? undefined : 'does not listen';
      },
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = parseTarget(request.url);
    const path = url?.pathname ?? '';
    const answerer = url && this.#answererAt(url);
    const ended = answerer === undefined ? undefined : this.#options.metrics?.began(path);
    try {
      if (url === undefined) throw new HttpError(400, 'the request target is invalid');
      if (answerer === undefined) throw new HttpError(404, `nothing is served at ${path.slice(0, 200)}`);
      refuseForeign(request, answerer.types);
      const answer = await this.#bodies.read(request, answerer.answer);
      send(response, 200, JSON.stringify(answer));
    } catch (error) {
      const code = codeOf(error);
      // Anyone can cause refusals, as often as they like: only failures on our side are logged above debug level.
      const { log } = this.#options;
      const fields = { path: path.slice(0, 200), code, error };
      if (code < 500) log.debug('a request was refused', fields);
      else log.warn('a request could not be answered', fields);
      // What is left of a refused body is not worth reading.
      response.setHeader('connection', 'close');
      send(response, code, `${JSON.stringify({ error: (error as Error).message })}\n`);
    }
    ended?.(response.statusCode);
  }

  #answererAt(url: URL): Answerer | undefined {
    const { handlers, calls = {}, clock, log, metrics } = this.#options;
    const path = url.pathname;
    const tools = { clock, log, budgetMs: budgetOf(url), panicked: () => metrics?.panicked(path) };
    const handler = at(handlers, path);
    if (handler !== undefined) {
      return { types: ['application/json'], answer: (body) => answerReview(body, handler, tools) };
    }
    const call = at(calls, path);
    // Cluster API names no type of what it sends.
    return call && { types: ['application/json', ''], answer: (body) => answerCall(body, call, tools) };
  }
}

/** The handler of one path. */
interface Answerer {
  /** Content types that it accepts; the empty one stands for a request without one. */
  readonly types: readonly string[];
  readonly answer: (body: string) => Promise<object>;
}

function codeOf(error: unknown): number {
  if (error instanceof HttpError) return error.code;
  return error instanceof BadReviewError || error instanceof BadCallError ? 400 : 500;
}

function at<T>(table: Readonly<Record<string, T>>, path: string): T | undefined {
  return Object.hasOwn(table, path) ? table[path] : undefined;
}

function budgetOf(url: URL): number {
  const seconds = /^(\d{1,3})s$/.exec(url.searchParams.get('timeout') ?? '')?.[1];
  return seconds === undefined ? longestBudgetMs : Math.min(Math.max(Number(seconds), 1) * 1000, longestBudgetMs);
}

/**
 * @throws HttpError for what the API server would not send.
 */
function refuseForeign(request: IncomingMessage, types: readonly string[]): void {
  if (request.method !== 'POST') throw new HttpError(405, 'requests must use POST');
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (!types.includes(type.trim())) throw new HttpError(415, 'requests must be sent as application/json');
}

function send(response: ServerResponse, code: number, body: string): void {
  // The client may have disconnected.
  if (response.destroyed) return;
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(body);
}
