/** Work of many callers that is done once for each key. It is given up when the last caller has left. */
export class SharedWork<T> {
  readonly #running = new Map<
    string,
    { readonly result: Promise<T>; readonly stop: AbortController; callers: number }
  >();

  /** Keys that are worked on now. */
  get keys(): ReadonlySet<string> {
    return new Set(this.#running.keys());
  }

  /** The result of the work on this key, which is begun unless somebody has. */
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
        // Whoever comes now begins anew rather than share what is given up.
        if (this.#running.get(key) === shared) this.#running.delete(key);
        shared.stop.abort(new Error('nobody waits for it any more'));
      }
    }
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<T>) {
    const stop = new AbortController();
    const result = work(stop.signal);
    // Callers hear of a failure; when the last one has left, it is nobody's.
    result.catch(() => undefined);
    const shared = { result, stop, callers: 0 };
    this.#running.set(key, shared);
    return shared;
  }
}
