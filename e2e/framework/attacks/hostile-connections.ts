import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import { deadlineIn } from '../deadline-in.ts';

/** A port that is attacked. */
export interface HostilePort {
  readonly address: string;
  readonly port: number;
  readonly tls: boolean;
  /** A path that answers. */
  readonly path: string;
}

/** What became of hostile connections: how many got which status code; 0 stands for none. */
export type HostileOutcome = Map<number, number>;

/** What one connection does. */
interface Attack {
  /** Without TLS at a port with TLS: noise instead of a handshake, or nothing. */
  readonly bare?: boolean;
  readonly bytes: string | Buffer;
  /** How long it stays when the server does not hang up, in milliseconds. */
  readonly lingerMs?: number;
  /** Ends by a reset as soon as the bytes are sent. */
  readonly resets?: boolean;
  readonly neverReads?: boolean;
}

const targets = ['//', '/\\', '//[', '//:99999/', '//a%zz', 'http://[', 'http://a:99999/', '*', '/..%2f', '/%'];
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'TRACE', 'CONNECT', 'PRI', 'ÿ'];
const head = (line: string, ...headers: readonly string[]): string =>
  [line, 'Host: x', ...headers, '', ''].join('\r\n');
const json = 'Content-Type: application/json';

type Maker = (random: () => number, port: HostilePort) => Attack;
const pick = <T>(random: () => number, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const noise = (random: () => number): Buffer => Buffer.from(Array.from({ length: 400 }, () => random() * 256));
const post = (path: string, ...headers: readonly string[]): string => head(`POST ${path} HTTP/1.1`, json, ...headers);

const attacks: readonly Maker[] = [
  (random) => ({ bytes: head(`${pick(random, methods)} ${pick(random, targets)} HTTP/1.1`, 'Connection: close') }),
  (random) => ({ bytes: head(`${pick(random, methods)} ${pick(random, targets)} HTTP/1.1`, 'Connection: close') }),
  (random) => ({ bytes: noise(random), lingerMs: 500 }),
  (random) => ({ bytes: noise(random), bare: true, lingerMs: 500 }),
  () => ({ bytes: head('GET / HTTP/1.1', ...Array.from({ length: 500 }, (_, n) => `a${n}: b`), 'Connection: close') }),
  () => ({ bytes: `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(64 * 1024)}` }),
  () => ({ bytes: 'GET / HTTP/1.1\r\nHost: x\r\nA: ', lingerMs: 1500 }),
  (_, { path }) => ({ bytes: post(path, 'Content-Length: 3145728') + 'x'.repeat(256 * 1024), lingerMs: 1500 }),
  (_, { path }) => ({ bytes: post(path, 'Transfer-Encoding: chunked') + '1\r\na\r\n'.repeat(2000), lingerMs: 1000 }),
  (_, { path }) => {
    const body = '['.repeat(200_000);
    return { bytes: post(path, `Content-Length: ${body.length}`, 'Connection: close') + body };
  },
  (_, { path }) => ({ bytes: post(path, 'Content-Length: 1', 'Content-Length: 2') }),
  (_, { path }) => ({ bytes: head(`DELETE ${path} HTTP/1.1`, 'Authorization: Bearer x').repeat(50), neverReads: true }),
  () => ({ bytes: head('GET /x HTTP/1.1'), resets: true }),
  () => ({ bytes: Buffer.from('16030100f0010000', 'hex'), bare: true, lingerMs: 1000 }),
  () => ({ bytes: '', bare: true, lingerMs: 500 }),
  (random) => ({ bytes: head('GET /x HTTP/1.1', `Authorization: Bearer ${random()}`, 'Connection: close') }),
];

/** How hard a fuzzer tries. */
export interface Fuzzing {
  /** Connections, and how many of them at once. */
  readonly count: number;
  readonly atOnce: number;
  readonly random: () => number;
  /** When all of them have to be over, in milliseconds. */
  readonly withinMs: number;
}

/**
 * Opens hostile connections of every sort, seeded, so many at a time, and tells what they were answered. Each ends after some
 * seconds at the latest.
 * @throws Error when the time is up.
 */
export async function attack(ports: readonly HostilePort[], how: Fuzzing): Promise<HostileOutcome> {
  const { count, atOnce, random, withinMs } = how;
  const outcome: HostileOutcome = new Map();
  const deadline = deadlineIn(withinMs);
  let begun = 0;
  const attackers = Array.from({ length: atOnce }, async () => {
    while (begun < count) {
      if (Date.now() > deadline) throw new Error(`${begun} of ${count} connections in ${withinMs / 1000} s`);
      const port = ports[begun % ports.length];
      if (port === undefined) return;
      begun += 1;
      const code = await attackOnce(port, pick(random, attacks)(random, port));
      outcome.set(code, (outcome.get(code) ?? 0) + 1);
    }
  });
  await Promise.all(attackers);
  return outcome;
}

/** Opens connections that send nothing, and gives what ends them. */
export async function openIdle({ address: host, port }: HostilePort, count: number): Promise<() => void> {
  const sockets = await Promise.all(
    Array.from({ length: count }, () => {
      const socket = connectTcp({ host, port });
      return new Promise<Socket>((resolve) => {
        // Whether the server takes it, refuses it or ends it is the server's affair.
        for (const event of ['connect', 'error', 'close']) {
          socket.on(event, () => {
            resolve(socket);
          });
        }
      });
    }),
  );
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

/** The longest that a connection lasts, in milliseconds. */
const longestMs = 8_000;

/** The status code that was answered; 0 when there was none before the connection ended. */
function attackOnce({ address: host, port, tls }: HostilePort, attack: Attack): Promise<number> {
  const { bare = false, bytes, lingerMs = longestMs, resets = false, neverReads = false } = attack;
  const connection = connectTcp({ host, port });
  const opened: Socket[] = [connection];
  return new Promise((resolve) => {
    let code = 0;
    const end = (): void => {
      clearTimeout(limit);
      for (const socket of opened) socket.destroy();
      resolve(code);
    };
    // By the clock, not by an event: what is lost while a handshake fails would be waited for without end.
    const limit = setTimeout(end, Math.min(lingerMs, neverReads ? 1000 : longestMs));
    const speak = (socket: Socket): void => {
      socket.write(bytes, () => {
        // A socket of TLS cannot reset.
        if (resets) connection.resetAndDestroy();
      });
      if (neverReads) return;
      socket.on('data', (chunk: Buffer) => {
        if (code === 0) code = Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1] ?? 0);
      });
    };
    // A server that hangs up is what is expected.
    connection.on('error', () => undefined).once('close', end);
    connection.once('connect', () => {
      if (!tls || bare) {
        speak(connection);
        return;
      }
      const secured = connectTls({ socket: connection, rejectUnauthorized: false });
      opened.push(secured);
      secured.on('error', () => undefined).once('close', end);
      secured.once('secureConnect', () => {
        speak(secured);
      });
    });
  });
}
