import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { deadline } from '../../runtime/deadline.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { PodAddress } from './ready-pods.ts';

/** A connection that is not read before it is passed on, and that is not closed before both sides have said all. */
export const passedSocket = {
  allowHalfOpen: true,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
} as const;

/** Connects to the first of the pods that accepts; undefined if none does. */
export async function dial(
  addresses: readonly PodAddress[],
  { clock, dialMs, signal }: { readonly clock: Clock; readonly dialMs: number; readonly signal: AbortSignal },
): Promise<Socket | undefined> {
  for (const address of addresses) {
    const limit = deadline(clock, dialMs, [signal]);
    try {
      return await connected(address, limit.signal);
    } catch {
      // Another pod may accept. Why one does not, does not matter: it is tried again.
      signal.throwIfAborted();
    } finally {
      limit.release();
    }
  }
  return undefined;
}

function connected({ host, port }: PodAddress, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, ...passedSocket });
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', aborted);
      socket.destroy();
      reject(error);
    };
    const aborted = (): void => {
      fail(signal.reason as Error);
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      signal.removeEventListener('abort', aborted);
      socket.off('error', fail);
      resolve(socket);
    });
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
  });
}

/** Passes all bytes of both sides through untouched, the ends of both as well. Resolves when both are closed. */
export function passThrough(caller: Socket, server: Socket, first: readonly Buffer[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let open = [caller, server].filter(({ closed }) => !closed).length;
  // It may have been closed while the server was dialed.
  if (open < 2) for (const socket of [caller, server]) socket.destroy();
  if (open === 0) resolve(undefined);
  for (const [one, other] of [
    [caller, server],
    [server, caller],
  ] as const) {
    // An error is followed by the close, which is what the other side has to know.
    one.on('error', () => {
      other.destroy();
    });
    one.on('close', () => {
      other.destroySoon();
      open -= 1;
      if (open === 0) resolve(undefined);
    });
  }
  for (const bytes of first) server.write(bytes);
  caller.pipe(server);
  server.pipe(caller);
  return promise;
}
