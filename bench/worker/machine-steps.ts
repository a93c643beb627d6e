/** What an infrastructure provider does with its machines, for those who listen. */
export class MachineSteps {
  readonly #listeners = new Set<(machine: string, step: string) => void>();

  /** Takes a line of progress; those of machines are `machine <name>` and the step. */
  hear(line: string, step: string): void {
    if (!line.startsWith('machine ')) return;
    for (const listener of this.#listeners) listener(line.slice('machine '.length), step);
  }

  /** Tells the listener of each step until the result is disposed of. */
  listen(listener: (machine: string, step: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }
}
