import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** Where connections are cut. */
export interface CutLine {
  /** Which way the bytes go that are counted. */
  readonly way: 'to the server' | 'to the client';
  /** A connection is reset when so many have been forwarded that way. */
  readonly bytes: number;
  /** How many connections are cut; those after them are left alone. */
  readonly times: number;
}

/** A TCP proxy that resets connections in the middle of what they carry. */
export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections that were cut so far. */
  readonly cuts: number;
  /** From now on. */
  cut(line: CutLine): void;
}

/** Forwards a free port of 127.0.0.1 to `target` there. */
export async function startCuttingProxy(target: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let line: CutLine = { way: 'to the client', bytes: 0, times: 0 };
  let left = 0;
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    const both = [client, upstream];
    for (const socket of both) {
      sockets.add(socket);
      // A reset of one side ends both; the test sees how its client handles it.
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          for (const each of both) each.destroy();
        });
    }
    const forward = (from: Socket, to: Socket, way: CutLine['way']): void => {
      let forwarded = 0;
      from.on('data', (chunk) => {
        forwarded += chunk.length;
        if (left === 0 || way !== line.way || forwarded <= line.bytes) to.write(chunk);
        else {
          left -= 1;
          cuts += 1;
          const part = chunk.subarray(0, chunk.length - (forwarded - line.bytes));
          to.write(part, () => {
            for (const each of both) each.resetAndDestroy();
          });
          from.pause();
        }
      });
      from.on('end', () => to.end());
    };
    forward(client, upstream, 'to the server');
    forward(upstream, client, 'to the client');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    get cuts() {
      return cuts;
    },
    cut: (next) => {
      line = next;
      left = next.times;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}
