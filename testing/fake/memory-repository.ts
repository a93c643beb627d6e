import { RepositoryError } from '../../stores/backup/backup-repository.ts';
import type { BackupRepository } from '../../stores/backup/backup-repository.ts';
import { segmentsOf } from '../../stores/backup/repository-names.ts';

/** A repository in memory. */
export class MemoryRepository implements BackupRepository {
  readonly files = new Map<string, Uint8Array>();
  /** Called before each change takes effect; may throw, as a process dies. */
  before: (call: 'write' | 'remove', name: string) => void = () => undefined;
  readonly #exists: boolean;

  /** One that does not exist is like a volume that is not mounted. */
  constructor({ exists = true } = {}) {
    this.#exists = exists;
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    await this.#checked(name);
    return this.files.get(name);
  }

  async write(name: string, content: Uint8Array): Promise<void> {
    await this.#checked(name);
    this.before('write', name);
    this.files.set(name, content);
  }

  async list(prefix: string): Promise<readonly string[]> {
    await this.#checked(prefix);
    return [...this.files.keys()].filter((name) => name.startsWith(prefix)).sort();
  }

  async remove(name: string): Promise<void> {
    await this.#checked(name);
    this.before('remove', name);
    this.files.delete(name);
  }

  async #checked(name: string): Promise<void> {
    await Promise.resolve();
    segmentsOf(name);
    if (!this.#exists) throw new RepositoryError('the repository does not exist');
  }
}
