import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { deadline } from '../../runtime/deadline.ts';
import type { Clock, Timer } from '../../runtime/clock.ts';
import type { PodAddress } from './ready-pods.ts';

/**
 * A connection that is not read before it is passed on, and that is not closed before both sides have said all. Peers that have gone without
 * a word are found by keepalive. There is no limit for peers that are there and silent, as in watches.
 */
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

export interface PassOptions {
  readonly clock: Clock;
  /** One side has ended, and so long nothing was passed on: both are closed, in milliseconds. */
  readonly lingerMs: number;
}

/**
 * Passes all bytes of both sides through untouched, the ends of both as well. Resolves when both are closed. When one side has ended, the
 * other one has to end as well, as soon as it has nothing more to say: whoever does not would hold the connection for ever.
 */
export function passThrough(
  caller: Socket,
  server: Socket,
  first: readonly Buffer[],
  { clock, lingerMs }: PassOptions,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let open = [caller, server].filter(({ closed }) => !closed).length;
  // It may have been closed while the server was dialed.
  if (open < 2) for (const socket of [caller, server]) socket.destroy();
  if (open === 0) resolve(undefined);
  let lingering: Timer | undefined;
  const linger = (): void => {
    const passed = progress(caller, server);
    lingering = clock.after(lingerMs, () => {
      if (progress(caller, server) !== passed) linger();
      else for (const socket of [caller, server]) socket.destroy();
    });
  };
  const ended = (): void => {
    if (lingering === undefined && open > 0) linger();
  };
  for (const [one, other] of [
    [caller, server],
    [server, caller],
  ] as const) {
    // An error is followed by the close, which is what the other side has to know.
    one.on('error', () => {
      other.destroy();
    });
    one.on('end', ended);
    one.on('close', () => {
      other.destroySoon();
      open -= 1;
      if (open > 0) ended();
      else {
        lingering?.cancel();
        resolve(undefined);
      }
    });
  }
  if (caller.readableEnded) ended();
  for (const bytes of first) server.write(bytes);
  caller.pipe(server);
  server.pipe(caller);
  return promise;
}

/** What was read of both sides, and what could not be written to them yet. */
function progress(...sides: readonly Socket[]): string {
  return sides.map(({ bytesRead, writableLength }) => `${bytesRead} ${writableLength}`).join(' ');
}
