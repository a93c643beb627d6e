/** Runs work once per key for any number of callers, and aborts it when the last caller has left. */
export class SharedWork<T> {
  readonly #running = new Map<
    string,
    { readonly result: Promise<T>; readonly stop: AbortController; callers: number }
  >();

  /** Keys with running work. */
  get keys(): ReadonlySet<string> {
    return new Set(this.#running.keys());
  }

  /** The result of the work for this key, which is started unless it is running already. */
  async run(key: string, work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const shared = this.#running.get(key) ?? this.#begin(key, work);
    shared.callers += 1;
    const leave = Promise.withResolvers<never>();
    const left = (): void => {
      leave.reject(signal.reason as Error);
    };
    signal.addEventListener('abort', left, { once: true });
    try {
      return await Promise.race([shared.result, leave.promise]);
    } finally {
      signal.removeEventListener('abort', left);
      shared.callers -= 1;
      if (shared.callers === 0) {
        // A new caller starts again and does not join aborted work.
        if (this.#running.get(key) === shared) this.#running.delete(key);
        shared.stop.abort(new Error('no caller is waiting for this work'));
      }
    }
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<T>) {
    const stop = new AbortController();
    const result = work(stop.signal);
    // Callers get the failure; without callers it must not be an unhandled rejection.
    result.catch(() => undefined);
    const shared = { result, stop, callers: 0 };
    this.#running.set(key, shared);
    return shared;
  }
}
