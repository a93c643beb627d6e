import { once } from 'node:events';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { loopbackPair } from '../server-certificates.ts';

/** A request as a server of a test sees it. */
export interface SeenRequest {
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
}

/** What it answers, as JSON; undefined to hang until the client gives up. */
export type Answer = (request: SeenRequest) => object | undefined;

/** A server for HTTPS on a loopback address, with a certificate of the given CA. */
export interface LoopbackServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts one on a free port. */
export async function startLoopbackServer(ca: KeyPair, answer: Answer): Promise<LoopbackServer> {
  const pair = await loopbackPair(ca, 'loopback');
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url = '/', headers } = request;
    const seen = { path: url, authorization: headers.authorization ?? '', body: await text(request) };
    const found = answer(seen);
    if (found === undefined) return;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(found));
  };
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    // A client that gave up is none of the server's business.
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port');
  return {
    url: `https://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
