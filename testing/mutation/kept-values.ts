import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Values by name that outlive the process, so that a run goes on where another one ended. */
export class KeptValues<T> {
  readonly #path: string;
  readonly #values: Map<string, T>;

  constructor(path: string) {
    this.#path = path;
    this.#values = new Map(Object.entries(read(path) as Readonly<Record<string, T>>));
  }

  get(name: string): T | undefined {
    return this.#values.get(name);
  }

  set(name: string, value: T): void {
    this.#values.set(name, value);
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(`${this.#path}.new`, JSON.stringify(Object.fromEntries(this.#values)));
    renameSync(`${this.#path}.new`, this.#path);
  }
}

function read(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
}
