import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * The libraries that a program needs, its loader included, as paths below `root`. Nothing is run: the program may be one of
 * another architecture, which ldd cannot ask. Throws an error that names a library which is not below the root.
 */
export async function linkedLibraries(
  program: string,
  root: string,
  folders: readonly string[],
): Promise<readonly string[]> {
  const found = new Set<string>();
  const follow = async (file: string): Promise<void> => {
    const { stdout } = await run('readelf', ['--dynamic', '--program-headers', '--wide', file]);
    for (const name of neededIn(stdout)) {
      const at = name.startsWith('/')
        ? name
        : folders.map((one) => `${one}/${name}`).find((one) => existsSync(join(root, one)));
      if (at === undefined || !existsSync(join(root, at)))
        throw new Error(`${name}, which ${file} needs, is in none of the Debian packages: add its package`);
      if (found.has(at)) continue;
      found.add(at);
      await follow(join(root, at));
    }
  };
  await follow(program);
  return [...found].sort();
}

/** Names of libraries, and the absolute path of the loader, in what readelf says of a file. */
export function neededIn(output: string): readonly string[] {
  const names = [...output.matchAll(/\(NEEDED\)\s+Shared library: \[([^\]]+)\]/g)].map(([, name = '']) => name);
  const [, loader] = /\[Requesting program interpreter: ([^\]]+)\]/.exec(output) ?? [];
  return loader === undefined ? names : [...names, loader];
}
