import type { BackupRepository } from '../../stores/backup/backup-repository.ts';

/** A repository in memory. */
export class MemoryRepository implements BackupRepository {
  readonly files = new Map<string, Uint8Array>();
  /** Called before each change takes effect; may throw, as a process dies. */
  before: (call: 'write' | 'remove', name: string) => void = () => undefined;

  read(name: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.files.get(name));
  }

  async write(name: string, content: Uint8Array): Promise<void> {
    await Promise.resolve();
    this.before('write', name);
    this.files.set(name, content);
  }

  list(prefix: string): Promise<readonly string[]> {
    return Promise.resolve([...this.files.keys()].filter((name) => name.startsWith(prefix)).sort());
  }

  async remove(name: string): Promise<void> {
    await Promise.resolve();
    this.before('remove', name);
    this.files.delete(name);
  }
}
