import type { Readable } from 'node:stream';
import { HttpError } from '../client/http-error.ts';

/** What bodies may cost, in bytes. */
export interface BodyLimits {
  /** One body. */
  readonly largest: number;
  /** All of them at once. */
  readonly together: number;
}

interface Receiving {
  readonly request: Readable;
  buffer: Buffer;
  size: number;
}

const firstBytes = 16 * 1024;

/**
 * Reads bodies within a budget for all of them, which each holds until its request is answered. When it is used up, the
 * largest body that is still arriving is dropped: a client that sends many large ones slowly loses them, and small ones get
 * through.
 */
export class BodyReader {
  readonly #limits: BodyLimits;
  readonly #receiving = new Set<Receiving>();
  #held = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Bytes that are held. */
  get held(): number {
    return this.#held;
  }

  /**
   * Reads a body and answers with what `use` makes of it.
   * @throws HttpError 413 for a body that is too large, 503 when there is no room for it.
   */
  async read<T>(request: Readable, use: (body: string) => Promise<T>): Promise<T> {
    const receiving: Receiving = { request, buffer: Buffer.alloc(0), size: 0 };
    this.#receiving.add(receiving);
    try {
      // Not chunk by chunk: a body of chunks of one byte would cost a hundred times its size.
      await this.#arrived(receiving);
      this.#receiving.delete(receiving);
      return await use(receiving.buffer.toString('utf8', 0, receiving.size));
    } finally {
      this.#receiving.delete(receiving);
      this.#held -= receiving.buffer.length;
    }
  }

  async #arrived(receiving: Receiving): Promise<void> {
    const { request } = receiving;
    await new Promise<void>((resolve, reject) => {
      request.on('data', (chunk: Buffer) => {
        try {
          this.#append(receiving, chunk);
        } catch (error) {
          // The rest is not read; the caller closes the connection.
          request.removeAllListeners('data').pause();
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
      request.once('end', resolve);
      const cut = (cause?: Error): void => {
        reject(cause instanceof HttpError ? cause : new HttpError(400, 'the request body is incomplete'));
      };
      request.once('error', cut);
      request.once('close', cut);
    });
  }

  #append(receiving: Receiving, chunk: Buffer): void {
    const size = receiving.size + chunk.length;
    const { largest } = this.#limits;
    if (size > largest) throw new HttpError(413, `the request is larger than ${largest} bytes`);
    if (size > receiving.buffer.length) this.#grow(receiving, size);
    chunk.copy(receiving.buffer, receiving.size);
    receiving.size = size;
  }

  #grow(receiving: Receiving, needed: number): void {
    const { largest, together } = this.#limits;
    const length = Math.min(Math.max(needed, receiving.buffer.length * 2, firstBytes), largest);
    const more = length - receiving.buffer.length;
    while (this.#held + more > together) {
      const victim = [...this.#receiving].reduce((a, b) => (b.buffer.length > a.buffer.length ? b : a), receiving);
      if (victim === receiving) throw new HttpError(503, 'too many large requests are being read; try again later');
      this.#receiving.delete(victim);
      this.#held -= victim.buffer.length;
      victim.buffer = Buffer.alloc(0);
      victim.request.destroy(new HttpError(503, 'too many large requests are being read; try again later'));
    }
    const grown = Buffer.allocUnsafeSlow(length);
    receiving.buffer.copy(grown, 0, 0, receiving.size);
    receiving.buffer = grown;
    this.#held += more;
  }
}
