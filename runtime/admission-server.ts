import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AdmissionHandler } from './admission.ts';
import { answerReview, BadReviewError } from './answer-review.ts';
import type { Clock } from './clock.ts';
import type { HealthCheck } from './health-check.ts';
import type { JsonCall } from './json-call.ts';
import { BadCallError, answerCall } from './json-call.ts';
import type { Logger } from './logger.ts';

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
  /** What is asked at other paths, by other protocols than the API server's. */
  readonly calls?: Readonly<Record<string, JsonCall>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: AdmissionMetrics;
}

/** As controller-runtime: larger than anything etcd stores. */
const largestBody = 3 * 1024 * 1024;
/** The API server's own default; its `timeout` parameter can shorten it. */
const longestBudgetMs = 10_000;

class HttpError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Answers the API server's AdmissionReviews over TLS, and other calls beside. Its certificate can be exchanged while it runs. */
export class AdmissionServer {
  readonly #options: AdmissionServerOptions;
  #server: Server | undefined;
  #failure: string | undefined;

  constructor(options: AdmissionServerOptions) {
    this.#options = options;
  }

  /** Listens; returns the port, which is chosen free when `port` is 0. Rejects when it is taken. */
  async listen(address: { readonly host: string; readonly port: number }, pair: ServingPair): Promise<number> {
    const server = createServer(
      { cert: pair.certificate, key: pair.key, minVersion: 'TLSv1.2', requestTimeout: 15_000, headersTimeout: 10_000 },
      (request, response) => {
        void this.#serve(request, response);
      },
    );
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
    server.on('tlsClientError', (error) => {
      this.#options.log.debug('a TLS handshake with the admission server failed', { error });
    });
    return (server.address() as AddressInfo).port;
  }

  /** New connections see this certificate from now on. Throws when key and certificate do not belong together. */
  use(pair: ServingPair): void {
    this.#server?.setSecureContext({ cert: pair.certificate, key: pair.key, minVersion: 'TLSv1.2' });
  }

  /** Takes no more connections and resolves when the running requests are answered. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    await new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
      server.closeIdleConnections();
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
    const url = new URL(request.url ?? '/', 'https://localhost');
    const answerer = this.#answererAt(url);
    const ended = answerer === undefined ? undefined : this.#options.metrics?.began(url.pathname);
    try {
      if (answerer === undefined) throw new HttpError(404, `there is no rule at ${url.pathname.slice(0, 200)}`);
      const body = await readBody(request, answerer.types);
      send(response, 200, JSON.stringify(await answerer.answer(body)));
    } catch (error) {
      const code = codeOf(error);
      this.#options.log.warn('a request could not be answered', {
        path: url.pathname.slice(0, 200),
        code,
        error,
      });
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

/** What answers at one path. */
interface Answerer {
  /** Content types that it takes; the empty one is none. */
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

async function readBody(request: IncomingMessage, types: readonly string[]): Promise<string> {
  if (request.method !== 'POST') throw new HttpError(405, 'requests are sent by POST');
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (!types.includes(type.trim())) {
    throw new HttpError(415, 'requests are sent as application/json');
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestBody) throw new HttpError(413, `the request is larger than ${largestBody} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, code: number, body: string): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(body);
}
