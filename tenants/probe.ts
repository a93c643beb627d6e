import { Resolver } from 'node:dns/promises';
import { request } from 'node:https';

import type { Connection } from '../runtime/client/connection.ts';
import { tlsTarget } from '../runtime/client/tls-target.ts';
import { strangersLookup } from './lookup.ts';

/** What a probe needs of a connection; it sends no credentials. */
export type ProbedServer = Pick<Connection, 'server' | 'ca' | 'tlsServerName' | 'dial'>;

/** Whether an API server answered. */
export interface ProbeResult {
  readonly isUp: boolean;
  /** From the dial to the first line of the answer, or until the probe gave up. */
  readonly seconds: number;
}

/** Anonymous requests may be refused; the API server serves all the same. */
const servingCodes: ReadonlySet<number | undefined> = new Set([200, 401, 403]);

const lookup = strangersLookup(new Resolver({ timeout: 2000, tries: 1 }));

/**
 * Checks over a new connection, as a new client would open it, whether an API server is ready. Its certificate is verified. A tenant may
 * answer anything for any time: only the first line of the answer is read, within `timeoutMs`. Never rejects.
 */
export async function probe(server: ProbedServer, timeoutMs: number): Promise<ProbeResult> {
  const began = performance.now();
  const isUp = await answers(server, AbortSignal.timeout(timeoutMs)).catch(() => false);
  return { isUp, seconds: (performance.now() - began) / 1000 };
}

async function answers({ server, ca, tlsServerName, dial }: ProbedServer, signal: AbortSignal): Promise<boolean> {
  const target = tlsTarget({ server, ca, tlsServerName, dial });
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const asked = request({
    ...target,
    ...{ path: '/readyz', agent: false, signal, lookup },
    headers: { host: new URL(server).host, 'user-agent': 'steward-probe' },
  });
  asked.on('response', (answer) => {
    resolve(servingCodes.has(answer.statusCode));
    answer.destroy();
  });
  // No API server sends these before its answer; a hostile one could send them for ever.
  for (const early of ['continue', 'information'])
    asked.on(early, () => {
      asked.destroy(new Error('the server sent an interim response'));
    });
  asked.on('error', reject);
  // An answer that takes the connection over is neither a response nor an error: the request only closes.
  asked.on('close', () => {
    resolve(false);
  });
  asked.end();
  return promise;
}
