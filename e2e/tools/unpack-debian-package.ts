import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from './debian-packages.ts';
import type { RunProgram } from './debian-packages.ts';
import { errorReason } from './error-reason.ts';

/**
 * The folder with a Debian package's files, downloaded and unpacked below `into` unless they are there. Nothing is installed: for
 * packages whose installation would start a server. Throws with the remedy when it cannot be had.
 */
export async function unpackDebianPackage(
  name: string,
  into: string,
  execute: RunProgram = runProgram,
): Promise<string> {
  const folder = join(into, name);
  if (existsSync(folder)) return folder;
  const scratch = `${folder}.part`;
  await rm(scratch, { recursive: true, force: true });
  await mkdir(join(scratch, 'files'), { recursive: true });
  try {
    // apt-get puts it into its working directory and has no option for another.
    await execute('sh', ['-c', 'cd "$0" && apt-get download -qq "$1"', scratch, name]);
    const archive = (await readdir(scratch)).find((file) => file.endsWith('.deb'));
    if (archive === undefined) throw new Error('apt-get download left no .deb');
    await execute('dpkg-deb', ['-x', join(scratch, archive), join(scratch, 'files')]);
    await rename(join(scratch, 'files'), folder);
    return folder;
  } catch (error) {
    const remedy = 'It takes a Debian system with internet; apt-get update may help.';
    throw new Error(`The Debian package ${name} could not be unpacked: ${errorReason(error)}. ${remedy}`, {
      cause: error,
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
