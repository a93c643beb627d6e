import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for a server's files, removed when it is disposed of or when this process ends. */
export interface ServerFolder extends AsyncDisposable {
  readonly path: string;
}

const parent = join(tmpdir(), 'steward-servers');

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // No such process; one of another user does not leave folders that we could remove.
    return false;
  }
};

/** Folders of processes that were killed before they could clean up. */
const sweep = async (): Promise<void> => {
  for (const name of await readdir(parent)) {
    const pid = Number.parseInt(name, 10);
    if (!isAlive(pid)) await rm(join(parent, name), { recursive: true, force: true });
  }
};

/** A new empty folder that only this user can read. */
export const serverFolder = async (): Promise<ServerFolder> => {
  const path = join(parent, `${process.pid}-${randomUUID()}`);
  await mkdir(parent, { recursive: true });
  await sweep();
  await mkdir(path, { mode: 0o700 });
  const remove = (): void => {
    rmSync(path, { recursive: true, force: true });
  };
  process.once('exit', remove);
  return {
    path,
    async [Symbol.asyncDispose]() {
      process.off('exit', remove);
      await rm(path, { recursive: true, force: true });
    },
  };
};
