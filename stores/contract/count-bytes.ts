import { Socket } from 'node:net';

/** Counts the bytes of all connections that this process opens while `work` runs, in both directions, as the sockets count them. */
export async function countBytes<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly bytes: number }> {
  const opened = new Set<Socket>();
  const connect: unknown = Reflect.get(Socket.prototype, 'connect');
  if (typeof connect !== 'function') throw new Error('a socket has no connect');
  const counted = function (this: Socket, ...all: readonly unknown[]): unknown {
    opened.add(this);
    return Reflect.apply(connect, this, all) as unknown;
  };
  Reflect.set(Socket.prototype, 'connect', counted);
  try {
    const result = await work();
    let bytes = 0;
    for (const { bytesRead, bytesWritten } of opened) bytes += bytesRead + bytesWritten;
    return { result, bytes };
  } finally {
    Reflect.set(Socket.prototype, 'connect', connect);
  }
}
