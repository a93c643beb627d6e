/**
 * Where backups are written: named files, and nothing else. A name is a path of segments from `[A-Za-z0-9._-]`, separated by "/".
 * All methods throw `RepositoryError`.
 */
export interface BackupRepository {
  /** Undefined when there is no file of this name. */
  read(name: string): Promise<Uint8Array | undefined>;
  /** Creates or replaces a file as a whole: a reader sees the former content or the new one, also after a crash. */
  write(name: string, content: Uint8Array): Promise<void>;
  /** The names below a prefix, which ends with "/", in ascending order. */
  list(prefix: string): Promise<readonly string[]>;
  /** Succeeds when there is no such file. */
  remove(name: string): Promise<void>;
}

/** A repository that cannot be read or written, or whose content is not what was written. The message is for a person. */
export class RepositoryError extends Error {
  override readonly name = 'RepositoryError';
}
