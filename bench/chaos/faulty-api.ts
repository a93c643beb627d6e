import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { loopbackPair, serverCa } from '../../testing/servers/server-certificates.ts';

/** Behind what it stands, and as whom it asks. PEM texts. */
export interface FaultyApiOptions {
  readonly url: string;
  readonly ca: string;
  readonly client: KeyPair;
}

/** What it answers in place of the API server. */
export type ApiFault = 'throttled' | 'expired';

/**
 * The management API server with faults, for several managers. It asks with the rights of the manager for clients with its token.
 * `throttled`: every request is answered with 429. `expired`: all watches end with 410, as do those that begin
 * at a known version.
 */
export class FaultyApi implements AsyncDisposable {
  /** Who signed its certificate. */
  readonly ca: string;
  readonly token: string = randomUUID();
  readonly #server: Server;
  readonly #options: FaultyApiOptions;
  readonly #agent = new Agent({ keepAlive: true });
  /** Running watches, each with the answer that it passes on. */
  readonly #watches = new Map<ServerResponse, IncomingMessage>();
  readonly #faults = new Set<ApiFault>();

  private constructor(options: FaultyApiOptions, ca: string, own: KeyPair) {
    this.#options = options;
    this.ca = ca;
    this.#server = createServer({ cert: own.certificate, key: own.key }, (incoming, outgoing) => {
      this.#answer(incoming, outgoing);
    });
  }

  static async start(options: FaultyApiOptions): Promise<FaultyApi> {
    const ca = await serverCa('faulty-api-ca');
    const api = new FaultyApi(options, ca.certificate, await loopbackPair(ca, 'faulty-api'));
    api.#server.listen(0, '127.0.0.1');
    await once(api.#server, 'listening');
    return api;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  begin(fault: ApiFault): void {
    this.#faults.add(fault);
    if (fault !== 'expired') return;
    for (const [watch, answer] of this.#watches) {
      // A client that is cut off reads the end late: nothing may follow it.
      answer.unpipe(watch);
      watch.end(`${JSON.stringify({ type: 'ERROR', object: gone })}\n`);
    }
    this.#watches.clear();
  }

  end(fault: ApiFault): void {
    this.#faults.delete(fault);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#agent.destroy();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#server.close(() => {
      resolve(undefined);
    });
    await promise;
  }

  #answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { searchParams } = new URL(incoming.url ?? '/', this.#options.url);
    const isWatch = searchParams.get('watch') === 'true';
    // One without a version, or that asks for the objects too, does not go on where another ended.
    const goesOn = isWatch && !searchParams.has('sendInitialEvents') && searchParams.has('resourceVersion');
    if (incoming.headers.authorization !== `Bearer ${this.token}`) refuse(outgoing, unauthorized);
    else if (this.#faults.has('throttled')) refuse(outgoing, tooMany, { 'retry-after': '1' });
    else if (this.#faults.has('expired') && goesOn) refuse(outgoing, gone);
    else this.#forward(incoming, outgoing, isWatch);
  }

  #forward(incoming: IncomingMessage, outgoing: ServerResponse, isWatch: boolean): void {
    const { url, ca, client } = this.#options;
    const headers = { ...incoming.headers };
    delete headers.authorization;
    const asked = request(new URL(incoming.url ?? '/', url), {
      ...{ agent: this.#agent, ca, cert: client.certificate, key: client.key },
      ...{ method: incoming.method, headers },
    });
    asked.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      // The beginning of a watch is its answer, also while nothing changes.
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
      if (isWatch) this.#watches.set(outgoing, answer);
    });
    asked.on('error', () => outgoing.destroy());
    outgoing.on('close', () => {
      this.#watches.delete(outgoing);
      asked.destroy();
    });
    // A manager that is killed in the middle of a request is one of the faults.
    incoming.on('error', () => asked.destroy());
    incoming.pipe(asked);
  }
}

interface Refusal {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
}

const refusal = (code: number, reason: string, message: string) => ({
  ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
  ...{ code, reason, message },
});

const unauthorized = refusal(401, 'Unauthorized', 'the token is another one');
const tooMany = refusal(429, 'TooManyRequests', 'a fault of the run: too many requests');
const gone = refusal(410, 'Expired', 'a fault of the run: the resource version is too old');

function refuse(outgoing: ServerResponse, status: Refusal, headers: Readonly<Record<string, string>> = {}): void {
  outgoing.writeHead(status.code, { 'content-type': 'application/json', ...headers });
  outgoing.end(JSON.stringify(status));
}
