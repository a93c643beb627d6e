/** Where the sources of a version are shown to readers of the site. */
export class RepositoryAddress {
  readonly #ref: string;

  /** @param ref A branch or a tag. */
  constructor(ref: string) {
    this.#ref = ref;
  }

  static readonly home = 'https://github.com/butlerdotdev/steward';

  /** The page of a file or folder, by its path from the root. */
  show(file: string): string {
    return `${RepositoryAddress.home}/blob/${this.#ref}/${file}`;
  }

  /** The page on which somebody proposes a change of a file. */
  edit(file: string): string {
    return `${RepositoryAddress.home}/edit/${this.#ref}/${file}`;
  }
}
