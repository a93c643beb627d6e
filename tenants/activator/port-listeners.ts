import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { Clock, Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/observe/logger.ts';
import { passedSocket } from './pass-through.ts';

export interface PortListenersOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Every address by default. */
  readonly host?: string;
  /** Serves a connection to a port. It has not been read. */
  readonly serve: (socket: Socket, tenant: string) => Promise<void>;
}

interface Listener {
  readonly server: Server;
  tenant: string;
  retry: Timer | undefined;
}

/** A port that cannot be listened on is tried again after so many milliseconds. */
const retryMs = 1_000;

/** So many connections wait for each port until they are accepted. */
const backlog = 128;

/** Listens on the ports of tenants. */
export class PortListeners {
  readonly #options: PortListenersOptions;
  readonly #listeners = new Map<number, Listener>();
  readonly #served = new Set<Promise<void>>();

  constructor(options: PortListenersOptions) {
    this.#options = options;
  }

  /** Ports that are wanted and not listened on yet. */
  get missing(): number {
    return [...this.#listeners.values()].filter(({ server }) => !server.listening).length;
  }

  /** Listens on these ports and on no others. Open connections stay. */
  set(ports: ReadonlyMap<number, string>): void {
    for (const [port, listener] of this.#listeners) if (!ports.has(port)) this.#close(port, listener);
    for (const [port, tenant] of ports) {
      const known = this.#listeners.get(port);
      if (known === undefined) this.#open(port, tenant);
      else known.tenant = tenant;
    }
  }

  /** Accepts no connection anymore. Open ones stay. */
  close(): void {
    this.set(new Map());
  }

  /** Resolves when no connection is open. */
  async over(): Promise<void> {
    while (this.#served.size > 0) await Promise.all(this.#served);
  }

  #open(port: number, tenant: string): void {
    const { clock, log, host, serve } = this.#options;
    const server = createServer({ ...passedSocket, pauseOnConnect: true, highWaterMark: 16 * 1024 }, (socket) => {
      const served = serve(socket, listener.tenant)
        .catch((error: unknown) => {
          log.error('a connection ended with an error', { tenant: listener.tenant, error });
          socket.destroy();
        })
        .finally(() => this.#served.delete(served));
      this.#served.add(served);
    });
    const listener: Listener = { server, tenant, retry: undefined };
    const listen = (): void => {
      server.listen({ port, backlog, ...(host !== undefined && { host }) });
    };
    server.on('error', (error) => {
      log.warn('a port cannot be listened on', { port, error });
      if (this.#listeners.get(port) === listener) listener.retry = clock.after(retryMs, listen);
    });
    this.#listeners.set(port, listener);
    listen();
  }

  #close(port: number, { server, retry }: Listener): void {
    this.#listeners.delete(port);
    retry?.cancel();
    server.close();
  }
}
