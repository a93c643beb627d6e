/** Lets so many work at once; the others wait for their turn, in order. */
export class Turns {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Resolves with what ends the turn. Rejects with the signal's reason. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else next();
    };
  }

  #wait(signal: AbortSignal): Promise<undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const leave = (): void => {
      this.#waiting.delete(begin);
      reject(signal.reason as Error);
    };
    const begin = (): void => {
      this.#waiting.delete(begin);
      signal.removeEventListener('abort', leave);
      resolve(undefined);
    };
    this.#waiting.add(begin);
    signal.addEventListener('abort', leave, { once: true });
    return promise;
  }
}
