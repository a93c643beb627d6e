import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Where raw bytes go. */
export interface RawTarget {
  readonly port: number;
  /** With TLS, accepting any certificate of the server. */
  readonly tls?: boolean;
}

/** Opens a connection and waits until it, and TLS on it, is there. */
export async function openRaw({ port, tls = false }: RawTarget): Promise<Socket> {
  const to = { host: '127.0.0.1', port };
  const socket = tls ? connectTls({ ...to, rejectUnauthorized: false }) : connectTcp(to);
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      socket.off('error', reject);
      resolve();
    });
  });
  // What becomes of the connection later is seen by its end.
  socket.on('error', () => undefined);
  return socket;
}

/** Resolves with everything that was received, when the connection is over. */
export async function untilClosed(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (!socket.closed) await new Promise<void>((resolve) => socket.once('close', resolve));
  return Buffer.concat(chunks).toString('latin1');
}

/** Sends bytes and gives what came back until the server hung up. */
export async function exchangeRaw(to: RawTarget, bytes: string | Buffer): Promise<string> {
  const socket = await openRaw(to);
  const answer = untilClosed(socket);
  socket.write(bytes);
  return answer;
}

/** The status code of an answer; 0 when the server hung up without one. */
export function codeOfRaw(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}
