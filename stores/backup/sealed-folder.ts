import type { BackupKey } from './backup-key.ts';
import { RepositoryError } from './backup-repository.ts';
import type { BackupRepository } from './backup-repository.ts';

/** The part of a repository that belongs to one control plane, in plain text. All methods throw `RepositoryError`. */
export class SealedFolder {
  readonly #repository: BackupRepository;
  readonly #prefix: string;
  readonly #key: BackupKey;

  /** `folder` has no "/" at its end. */
  constructor(repository: BackupRepository, folder: string, key: BackupKey) {
    this.#repository = repository;
    this.#prefix = `${folder}/`;
    this.#key = key;
  }

  /** The name under which `keep` writes this content. */
  nameOf(content: Uint8Array): string {
    return this.#key.nameOf(content);
  }

  async write(name: string, content: Uint8Array): Promise<number> {
    const full = this.#prefix + name;
    const sealed = this.#key.seal(full, content);
    await this.#repository.write(full, sealed);
    return sealed.length;
  }

  /** Throws when there is no such file. */
  async read(name: string): Promise<Uint8Array> {
    const full = this.#prefix + name;
    const sealed = await this.#repository.read(full);
    if (sealed === undefined) throw new RepositoryError(`${full} is missing in the repository`);
    return this.#key.open(full, sealed);
  }

  /** Names below a prefix, which ends with "/", in ascending order. */
  async list(prefix: string): Promise<readonly string[]> {
    const names = await this.#repository.list(this.#prefix + prefix);
    return names.map((name) => name.slice(this.#prefix.length));
  }

  async remove(name: string): Promise<void> {
    await this.#repository.remove(this.#prefix + name);
  }
}
