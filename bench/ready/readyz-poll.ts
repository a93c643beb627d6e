import { request } from 'node:https';
import { connect } from 'node:tls';
import type { SecureContext } from 'node:tls';

/** The address and the client. */
export interface ReadyzTarget {
  readonly host: string;
  readonly port: number;
  readonly credentials: SecureContext;
  /** Whether the server's certificate must name `host`; pods' own addresses are in no certificate. */
  readonly named: boolean;
}

/**
 * Requests `/readyz` every 50 ms, each time over a new TLS connection, whether or not earlier requests were answered.
 * @returns when the first 200 arrived, in milliseconds of `performance.now()`; undefined when aborted before.
 */
export async function firstReadyz(target: ReadyzTarget, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve) => {
    const settled = new AbortController();
    const finish = (at?: number): void => {
      clearInterval(timer);
      signal.removeEventListener('abort', onAbort);
      settled.abort();
      resolve(at);
    };
    const onAbort = (): void => {
      finish();
    };
    const ask = (): void => {
      asked(target, settled.signal).then(
        (isReady) => {
          if (isReady && !settled.signal.aborted) finish(performance.now());
        },
        finish.bind(undefined, undefined),
      );
    };
    const timer = setInterval(ask, 50);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) finish();
    else ask();
  });
}

/** Whether one request is answered with 200 within a second. */
async function asked({ host, port, credentials, named }: ReadyzTarget, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const asking = request(
      {
        host,
        port,
        path: '/readyz',
        signal: AbortSignal.any([signal, AbortSignal.timeout(1000)]),
        createConnection: () =>
          connect({
            host,
            port,
            secureContext: credentials,
            ...(named ? {} : { checkServerIdentity: () => undefined }),
          }),
      },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      },
    );
    asking.once('error', () => {
      resolve(false);
    });
    asking.end();
  });
}
