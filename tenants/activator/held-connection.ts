import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../runtime/clock.ts';
import { ClientHelloReader } from './client-hello.ts';
import type { HelloRefusal } from './client-hello.ts';

/** How the reading of a hello ended. */
export type HelloEnd = 'Complete' | 'Slow' | 'Gone' | HelloRefusal;

/**
 * A connection that is held before it is passed on. Its hello is read within a limit of time and of bytes. Afterwards it is still read, as
 * far as there is room, because nothing else shows that a caller has gone.
 */
export class HeldConnection {
  /** Aborted when the caller goes, and never after `release`. */
  readonly gone: AbortSignal;
  readonly hello: Promise<HelloEnd>;
  readonly #socket: Socket;
  readonly #reader = new ClientHelloReader();
  readonly #timer: Timer;
  readonly #left = new AbortController();
  readonly #ended = Promise.withResolvers<HelloEnd>();
  /** What did not fit anymore: the socket is not read until it is passed on. */
  #rest: Buffer | undefined;

  constructor(socket: Socket, { clock, helloMs }: { readonly clock: Clock; readonly helloMs: number }) {
    this.#socket = socket;
    this.gone = this.#left.signal;
    this.hello = this.#ended.promise;
    this.#timer = clock.after(helloMs, () => {
      this.#ended.resolve('Slow');
    });
    socket.on('data', this.#take);
    // A client that says nothing more before it has an answer is no client of TLS.
    for (const event of ['end', 'close'] as const) socket.on(event, this.#leave);
    socket.resume();
  }

  /** Lets go of the socket. Returns what was read of it; nothing is lost. */
  release(): readonly Buffer[] {
    this.#stop();
    this.#socket.pause();
    return this.#rest === undefined ? [this.#reader.bytes] : [this.#reader.bytes, this.#rest];
  }

  /** Ends the connection. */
  destroy(): void {
    this.#stop();
    this.#socket.destroy();
  }

  #stop(): void {
    this.#timer.cancel();
    this.#socket.off('data', this.#take);
    for (const event of ['end', 'close'] as const) this.#socket.off(event, this.#leave);
  }

  readonly #take = (chunk: Buffer): void => {
    if (!this.#reader.push(chunk)) {
      this.#rest = chunk;
      this.#socket.pause();
    }
    const { reading } = this.#reader;
    if (reading.is === 'partial') return;
    this.#timer.cancel();
    this.#ended.resolve(reading.is === 'complete' ? 'Complete' : reading.why);
  };

  readonly #leave = (): void => {
    this.#timer.cancel();
    this.#ended.resolve('Gone');
    this.#left.abort(new Error('the caller has gone'));
  };
}
