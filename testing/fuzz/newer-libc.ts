import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { downloadDebs } from '../../release/system/download-debs.ts';
import { toolEnvironment } from '../../e2e/tools/tool-environment.ts';

/** The fuzzer's native part is linked to this version of glibc. */
const needed = '2.38';
/** A Debian that has it. */
const suite = 'trixie';
const packages = ['libc6', 'libgcc-s1', 'libstdc++6'];

const run = promisify(execFile);

/**
 * What a program must be started with so that it finds the C library that the fuzzer needs: nothing where the system's own is new enough,
 * otherwise the loader of a newer Debian, whose packages are unpacked into the cache once. Nothing is installed.
 */
export async function newerLibc(): Promise<readonly string[]> {
  if (await isEnough()) return [];
  const folder = join(toolEnvironment().cacheFolder, 'debian', `libc-of-${suite}`);
  if (!existsSync(folder)) await unpackInto(folder);
  const libraries = (await readdir(join(folder, 'usr/lib'))).filter((name) => name.endsWith('-linux-gnu'));
  const folders = libraries.map((name) => join(folder, 'usr/lib', name));
  const loader = (await Promise.all(folders.map(loaderIn))).flat()[0];
  if (loader === undefined) throw new Error(`there is no loader in ${folder}: remove the folder, and try again`);
  return [loader, '--library-path', folders.join(':')];
}

async function loaderIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('ld-linux-')).map((name) => join(folder, name));
}

async function unpackInto(folder: string): Promise<void> {
  const making = `${folder}.${process.pid}`;
  const files = join(making, 'files');
  try {
    await mkdir(files, { recursive: true });
    const sources = join(making, 'sources.list');
    const signed = 'signed-by=/usr/share/keyrings/debian-archive-keyring.gpg';
    await writeFile(sources, `deb [${signed}] http://deb.debian.org/debian ${suite} main\n`);
    const options = { 'Dir::Etc::sourcelist': sources, 'Dir::Etc::sourceparts': '-' };
    for (const deb of await downloadDebs(making, { packages, options }))
      await run('dpkg-deb', ['--extract', deb, files]);
    await rename(files, folder);
  } catch (cause) {
    const remedy = `run it on a system with glibc ${needed}, such as Debian 13 or Ubuntu 24.04`;
    throw new Error(`the fuzzer needs glibc ${needed}, and the packages of Debian cannot be had: ${remedy}`, { cause });
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

/** True when the system's own is new enough, or it has none: then the fuzzer says what it needs. */
async function isEnough(): Promise<boolean> {
  const { stdout } = await run('getconf', ['GNU_LIBC_VERSION']).catch(() => ({ stdout: '' }));
  const [, version] = /^glibc (\d+\.\d+)/.exec(stdout) ?? [];
  return version === undefined || version.localeCompare(needed, 'en', { numeric: true }) >= 0;
}
