import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy that can die by halves. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Keeps connections open but forwards nothing more, until `thaw`: a peer behind a broken network. */
  freeze(): void;
  /** Forwards again; what was held back meanwhile is delivered. */
  thaw(): void;
  /** New connections go to this port of 127.0.0.1 from now on; those that are open stay as they are. */
  turnTo(target: number): void;
  /** Resets all connections. */
  cut(): void;
}

/** Forwards a free port of 127.0.0.1 to `target` there. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let accepted = 0;
  let current = target;
  let frozen = false;
  const server = createServer((inbound) => {
    accepted += 1;
    const outbound = connect(current, '127.0.0.1');
    const pair = [inbound, outbound] as const;
    pairs.add(pair);
    const forget = (): void => {
      pairs.delete(pair);
      inbound.destroy();
      outbound.destroy();
    };
    for (const [from, to] of [pair, [outbound, inbound]] as const) {
      from.on('data', (chunk) => to.write(chunk)).on('end', () => to.end());
      // A reset of one side is passed on to the other; the test checks how its client handles it.
      from.on('error', forget).on('close', forget);
      if (frozen) from.pause();
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const each = (act: (socket: Socket) => unknown): void => {
    for (const socket of [...pairs].flat()) act(socket);
  };
  return {
    port: (server.address() as AddressInfo).port,
    get accepted() {
      return accepted;
    },
    freeze: () => {
      frozen = true;
      each((socket) => socket.pause());
    },
    thaw: () => {
      frozen = false;
      each((socket) => socket.resume());
    },
    turnTo: (next) => {
      current = next;
    },
    cut: () => {
      each((socket) => socket.resetAndDestroy());
    },
    [Symbol.asyncDispose]: async () => {
      each((socket) => socket.destroy());
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}
