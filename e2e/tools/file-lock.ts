import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from './error-code.ts';

/** A process id alone may be used again; on Linux its start time tells two processes apart. */
const identity = async (pid: number): Promise<string> => {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return `${pid} ${stat.slice(stat.lastIndexOf(')')).split(' ')[20] ?? ''}`;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return `${pid} `;
    throw error;
  }
};

const isAlive = async (recorded: string): Promise<boolean> => {
  const pid = Number.parseInt(recorded, 10);
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false;
  }
  return (await identity(pid)) === recorded;
};

const holder = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
};

const tryTake = async (path: string): Promise<boolean> => {
  // A link appears with its content at once, so nobody ever reads a lock without a process id.
  const mine = `${path}.${randomUUID()}`;
  await writeFile(mine, await identity(process.pid));
  try {
    await link(mine, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(mine, { force: true });
  }
};

const breakAbandoned = async (path: string): Promise<void> => {
  const recorded = await holder(path);
  if (recorded === undefined || (await isAlive(recorded))) return;
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    await rm(aside, { force: true });
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
};

const held = new Set<string>();

/**
 * Runs `work` while no other process of this host holds the lock file `path`. The lock of a process that died is taken over.
 * `onWait` is called once, with the holder's process id, when there is something to wait for.
 */
export const withFileLock = async <T>(
  path: string,
  work: () => Promise<T>,
  onWait?: (pid: number) => void,
): Promise<T> => {
  await mkdir(dirname(path), { recursive: true });
  let told = false;
  while (held.has(path) || !(await tryTake(path))) {
    const recorded = await holder(path);
    if (recorded !== undefined && !told) {
      told = true;
      onWait?.(Number.parseInt(recorded, 10));
    }
    if (!held.has(path)) await breakAbandoned(path);
    await delay(200);
  }
  held.add(path);
  try {
    return await work();
  } finally {
    held.delete(path);
    await rm(path, { force: true });
  }
};
