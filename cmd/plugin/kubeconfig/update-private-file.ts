import { mkdir, open, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { failureCode } from '../../../runtime/observe/describe-failure.ts';
import { PluginError } from '../frame/plugin-error.ts';

/**
 * Replaces the content of a file that only its owner may read; an absent one counts as empty. Takes the same lock as kubectl does
 * (`<file>.lock`), and never leaves half a file.
 * @throws PluginError if the file is locked.
 */
export async function updatePrivateFile(path: string, change: (content: string) => string): Promise<void> {
  const file = await realpath(path).catch(() => path);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const lock = `${file}.lock`;
  try {
    await (await open(lock, 'wx', 0o600)).close();
  } catch (error) {
    if (failureCode(error) !== 'EEXIST') throw error;
    throw new PluginError(`${file} is being written by another program; if none runs, delete ${lock}`);
  }
  const next = `${file}.new`;
  try {
    const before = await readFile(file, 'utf8').catch((error: unknown) => {
      if (failureCode(error) === 'ENOENT') return '';
      throw error;
    });
    const after = change(before);
    // One that was left behind, or planted, would keep its own mode, or be a link.
    await rm(next, { force: true });
    await writeFile(next, after, { mode: 0o600, flag: 'wx' });
    await rename(next, file);
  } finally {
    await rm(next, { force: true });
    await rm(lock, { force: true });
  }
}
