import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..');

/**
 * Builds the bundle as `npm run build` does, from outside as a user of the repository, into a folder that is replaced.
 * @param version what the program calls itself, without a v; that of package.json by default.
 * @returns the folders of the npm packages in it, as package-lock.json names them.
 */
export async function buildBundle(into: string, version?: string): Promise<readonly string[]> {
  await promisify(execFile)(
    process.execPath,
    [join(root, 'cmd', 'build.ts'), into, ...(version === undefined ? [] : [version])],
    { cwd: root },
  );
  const { packages } = JSON.parse(await readFile(join(into, 'package.json'), 'utf8')) as {
    packages: readonly string[];
  };
  return packages;
}
