/** What was opened, to be closed in the reverse order. A failed close does not keep the others open. */
export class Closing {
  readonly #steps: (() => unknown)[] = [];

  /** Remembers how to close something, and gives it back. */
  add<T>(opened: T, close: (opened: T) => unknown): T {
    this.#steps.push(() => close(opened));
    return opened;
  }

  /** Closes everything. Throws the first failure after all was tried. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
