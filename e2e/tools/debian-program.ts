import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';

import { aptGet } from './apt-get.ts';
import { runProgram } from './debian-packages.ts';
import type { RunProgram } from './debian-packages.ts';

/** A program of a Debian package. */
export interface DebianProgram {
  /** Name of the package. */
  readonly name: string;
  /** Path in the package, such as `usr/bin/promtool`. */
  readonly program: string;
}

/**
 * The path of a program whose package is downloaded and not installed: that would start its server. Only the program is kept
 * in the cache. Throws an error that names the package if it cannot be downloaded.
 */
export async function debianProgram(
  { name, program }: DebianProgram,
  cacheFolder: string,
  execute: RunProgram = runProgram,
): Promise<string> {
  const found = path.join(cacheFolder, 'debian', name, program);
  if (existsSync(found)) return found;
  const making = path.join(cacheFolder, 'debian', `${name}.${process.pid}`);
  const [downloads, unpacked] = [path.join(making, 'downloads'), path.join(making, 'unpacked')];
  await rm(making, { recursive: true, force: true });
  await mkdir(downloads, { recursive: true });
  try {
    await aptGet(['update', '-qq'], execute);
    await execute('sh', ['-c', 'cd "$1" && apt-get download -qq "$2"', 'sh', downloads, name]);
    const [file = ''] = await readdir(downloads);
    await execute('dpkg', ['-x', path.join(downloads, file), unpacked]);
    await mkdir(path.dirname(found), { recursive: true });
    await rename(path.join(unpacked, program), found);
  } catch (error) {
    throw new Error(`${program} of the Debian package ${name} is needed: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    await rm(making, { recursive: true, force: true });
  }
  return found;
}
