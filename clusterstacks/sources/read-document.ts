import { LineCounter, parseDocument } from 'yaml';

import { BadReleaseError } from './asset-errors.ts';

/** A larger document cannot describe a release. */
const maxCharacters = 64 * 1024;

type Fields = Readonly<Record<string, unknown>>;

/** A value of a YAML document that knows its path, so that every validation error names file, path, value and remedy. */
export class DocumentValue {
  readonly #file: string;
  readonly #path: string;
  readonly value: unknown;

  private constructor(file: string, path: string, value: unknown) {
    this.#file = file;
    this.#path = path;
    this.value = value;
  }

  /** @throws BadReleaseError when the text is not a single YAML document. */
  static of(file: string, text: string): DocumentValue {
    if (text.length > maxCharacters) {
      throw new BadReleaseError(`${file} has ${text.length} characters; at most ${maxCharacters} are allowed`);
    }
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
    const [problem] = document.errors;
    if (problem !== undefined) {
      const { line, col } = lines.linePos(problem.pos[0]);
      throw new BadReleaseError(`${file} is not valid YAML: line ${line}, column ${col}: ${problem.message}`);
    }
    try {
      return new DocumentValue(file, '', document.toJS({ maxAliasCount: 100 }));
    } catch (error) {
      throw new BadReleaseError(`${file} is not valid YAML: ${error instanceof Error ? error.message : 'unreadable'}`);
    }
  }

  /** There is no value. */
  get isAbsent(): boolean {
    return this.value === undefined || this.value === null;
  }

  /** Refuses this value. */
  refuse(remedy: string): never {
    const seen = this.value === undefined ? 'is missing' : `is ${excerpt(this.value)}`;
    throw new BadReleaseError(`${this.#file}: ${this.#path === '' ? 'the document' : this.#path} ${seen}: ${remedy}`);
  }

  /** A field of an object; absent where the object is absent. */
  field(name: string): DocumentValue {
    const path = this.#path === '' ? name : `${this.#path}.${name}`;
    const fields = this.fields();
    return new DocumentValue(this.#file, path, Object.hasOwn(fields, name) ? fields[name] : undefined);
  }

  /** The fields of an object; none if there is no value. */
  fields(): Fields {
    if (this.isAbsent) return {};
    return isFields(this.value) ? this.value : this.refuse('it must be an object');
  }

  /** The items of a list; none if there is no value. */
  items(): readonly DocumentValue[] {
    if (this.isAbsent) return [];
    if (!Array.isArray(this.value)) return this.refuse('it must be a list');
    return this.value.map((item: unknown, index) => new DocumentValue(this.#file, `${this.#path}[${index}]`, item));
  }

  /** A text that is not empty. */
  text(remedy: string): string {
    if (typeof this.value === 'number' || typeof this.value === 'boolean') {
      return this.refuse(`${remedy}, in quotes so that YAML reads it as a string`);
    }
    return typeof this.value === 'string' && this.value !== '' ? this.value : this.refuse(remedy);
  }

  /** A text that is not empty, if there is a value. */
  optionalText(remedy: string): string | undefined {
    return this.isAbsent || this.value === '' ? undefined : this.text(remedy);
  }

  /** A text of this form. */
  matching(pattern: RegExp, remedy: string): string {
    const text = this.text(remedy);
    return pattern.test(text) ? text : this.refuse(remedy);
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function excerpt(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
