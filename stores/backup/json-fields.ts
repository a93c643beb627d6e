import { RepositoryError } from './backup-repository.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An object in a file of a backup, read field by field: a file that was changed is refused, and no field is guessed. */
export class JsonFields {
  readonly #file: string;
  readonly fields: Fields;

  private constructor(file: string, value: unknown) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new RepositoryError(`${file} is not a file of a backup that this version can read`);
    this.#file = file;
    this.fields = value as Fields;
  }

  /** Throws `RepositoryError` unless the text is the JSON of an object in format 1. */
  static of(file: string, text: string): JsonFields {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw new RepositoryError(`${file} is not a file of a backup that this version can read`, { cause });
    }
    const read = new JsonFields(file, value);
    const { format } = read.fields;
    // A later version of Steward may have written it.
    if (format === 1) return read;
    throw new RepositoryError(`${file} has format ${JSON.stringify(format)}: this version of Steward reads format 1`);
  }

  text(name: string): string {
    const value = this.fields[name];
    return typeof value === 'string' ? value : this.#refuse(name, 'text');
  }

  /** A number of things. */
  count(name: string): number {
    const value = this.fields[name];
    return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : this.#refuse(name, 'a number');
  }

  /** A revision, which is written as text. */
  revision(name: string): bigint {
    const value = this.text(name);
    return /^\d{1,20}$/.test(value) ? BigInt(value) : this.#refuse(name, 'a revision');
  }

  /** A list of objects. */
  list(name: string): readonly JsonFields[] {
    const value = this.fields[name];
    if (!Array.isArray(value)) return this.#refuse(name, 'a list');
    return value.map((item: unknown) => new JsonFields(this.#file, item));
  }

  #refuse(name: string, what: string): never {
    throw new RepositoryError(
      `${this.#file} is damaged: its field ${name} is not ${what}; restore an earlier backup or moment`,
    );
  }
}
