import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A router of TLS connections that does not end them: it reads the server name that a client requests and forwards the bytes. */
export interface SniRouter extends AsyncDisposable {
  readonly port: number;
  /** From now on these names lead to these places, and no others anywhere. Open connections stay. */
  route(places: ReadonlyMap<string, Place>): void;
}

/** Where a server listens. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

const handshake = 22;
const recordHeader = 5;
/** Handshake header, version and random of a ClientHello (RFC 8446, 4.1.2). */
const fixedHello = 4 + 2 + 32;
const serverName = 0;
/** Server name list and the type and length of its first entry (RFC 6066, 3). */
const nameHeader = 2 + 1 + 2;

/** The server name in a ClientHello; undefined while the first record is not complete, empty when there is no name. */
export function serverNameOf(bytes: Buffer): string | undefined {
  if (bytes.length > 0 && bytes[0] !== handshake) return '';
  if (bytes.length < recordHeader || bytes.length < recordHeader + bytes.readUInt16BE(3)) return undefined;
  let at = recordHeader + fixedHello;
  at += 1 + bytes.readUInt8(at);
  at += 2 + bytes.readUInt16BE(at);
  at += 1 + bytes.readUInt8(at);
  const end = at + 2 + bytes.readUInt16BE(at);
  at += 2;
  while (at + 4 <= end) {
    const [type, length] = [bytes.readUInt16BE(at), bytes.readUInt16BE(at + 2)];
    at += 4;
    if (type === serverName) return bytes.toString('latin1', at + nameHeader, at + length);
    at += length;
  }
  return '';
}

/** Listens, by default on a free port of 127.0.0.1. Until it gets names it refuses all of them. */
export async function startSniRouter(at: Place = { host: '127.0.0.1', port: 0 }): Promise<SniRouter> {
  let table: ReadonlyMap<string, Place> = new Map();
  const open = new Set<Socket>();
  const follow = (socket: Socket, other: () => Socket | undefined): void => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      open.delete(socket);
      other()?.destroy();
    });
  };
  const server = createServer((inbound) => {
    let outbound: Socket | undefined;
    let hello = Buffer.alloc(0);
    follow(inbound, () => outbound);
    const read = (chunk: Buffer): void => {
      hello = Buffer.concat([hello, chunk]);
      const name = serverNameOf(hello);
      if (name === undefined) return;
      inbound.off('data', read);
      const target = table.get(name);
      if (target === undefined) {
        inbound.destroy();
        return;
      }
      outbound = connect(target.port, target.host);
      follow(outbound, () => inbound);
      outbound.write(hello);
      inbound.pipe(outbound).pipe(inbound);
    };
    inbound.on('data', read);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(at.port, at.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    route: (places) => {
      table = places;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
