/** A test or a hook as jest knows it. */
export interface Limited {
  /** In milliseconds; absent where the limit of all tests holds. */
  timeout?: number | null | undefined;
}

/** Extends time limits by a factor, each once: a hook begins before every test. */
export class TimeLimits {
  readonly #factor: number;
  readonly #extended = new WeakSet<Limited>();

  constructor(factor: number) {
    this.#factor = factor;
  }

  extend(limited: Limited): void {
    if (typeof limited.timeout !== 'number' || this.#extended.has(limited)) return;
    this.#extended.add(limited);
    limited.timeout *= this.#factor;
  }
}
