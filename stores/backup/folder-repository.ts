import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeFailure, failureCode } from '../../runtime/observe/describe-failure.ts';
import { RepositoryError } from './backup-repository.ts';
import type { BackupRepository } from './backup-repository.ts';
import { segmentsOf } from './repository-names.ts';

/** Endings of files that are not written completely yet. */
const unfinished = '.unfinished';

/** A repository in a folder, such as a mounted volume. The folder must exist: a volume that is not mounted is noticed. */
export class FolderRepository implements BackupRepository {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    return this.#translated(name, async (path) => {
      try {
        return await readFile(path);
      } catch (error) {
        if (failureCode(error) === 'ENOENT') return undefined;
        throw error;
      }
    });
  }

  async write(name: string, content: Uint8Array): Promise<void> {
    await this.#translated(name, async (path) => {
      await readdir(this.#root);
      await mkdir(dirname(path), { recursive: true });
      const temporary = `${path}.${randomUUID()}${unfinished}`;
      try {
        const file = await open(temporary, 'wx', 0o600);
        try {
          await file.writeFile(content);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
      await synced(dirname(path));
    });
  }

  async list(prefix: string): Promise<readonly string[]> {
    return this.#translated(prefix, async (path) => {
      await readdir(this.#root);
      const found = await filesBelow(path);
      return found
        .filter((file) => !file.endsWith(unfinished))
        .map((file) => `${prefix}${file}`)
        .sort();
    });
  }

  async remove(name: string): Promise<void> {
    await this.#translated(name, (path) => rm(path, { force: true }));
  }

  async #translated<T>(name: string, work: (path: string) => Promise<T>): Promise<T> {
    const segments = segmentsOf(name);
    try {
      return await work(join(this.#root, ...segments));
    } catch (error) {
      throw new RepositoryError(`the repository in ${this.#root} failed: ${describeFailure(error)}`, { cause: error });
    }
  }
}

/** The files of a folder and its subfolders, relative to it; none when it does not exist. */
async function filesBelow(folder: string): Promise<string[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (failureCode(error) === 'ENOENT') return [];
    throw error;
  }
  const files: string[] = [];
  for (const entry of entries) {
    if (entry.isDirectory()) {
      files.push(...(await filesBelow(join(folder, entry.name))).map((file) => `${entry.name}/${file}`));
    } else files.push(entry.name);
  }
  return files;
}

/** A rename is certain only once its folder is on the disk. */
async function synced(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
