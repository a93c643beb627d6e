/** Values by the text that they were made from: so many that were asked for last. The text must be all that a value depends on. */
export class Latest<Value> {
  readonly #most: number;
  readonly #values = new Map<string, Value>();

  constructor(most: number) {
    this.#most = most;
  }

  /** The value that is known, or a new one. What `make` throws is not kept. */
  of(text: string, make: (text: string) => Value): Value {
    const known = this.#values.get(text);
    const value = known ?? make(text);
    this.#values.delete(text);
    this.#values.set(text, value);
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#most) break;
      this.#values.delete(oldest);
    }
    return value;
  }
}
