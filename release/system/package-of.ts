import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { authorities } from './image-system.ts';
import type { DebianPackage } from './image-system.ts';

const run = promisify(execFile);

/** The installed Debian package that a file of this machine belongs to. Throws for a file that belongs to none. */
export async function packageOf(file: string): Promise<DebianPackage> {
  const name = await ownerOf(file);
  const { stdout } = await run('dpkg-query', ['-W', '-f', '${Version} ${Architecture}', name]);
  const [version = '', architecture = ''] = stdout.split(' ');
  return { name, version, architecture };
}

async function ownerOf(file: string): Promise<string> {
  // With a merged /usr the package may know its file under the other name.
  const names = [file, file.startsWith('/usr/') ? file.slice(4) : `/usr${file}`];
  for (const name of names) {
    const { stdout } = await run('dpkg-query', ['-S', name]).catch(() => ({ stdout: '' }));
    const [owner] = stdout.split('\n').map((line) => /^([a-z0-9.+-]+)(:\w+)?: /.exec(line)?.[1]);
    if (owner !== undefined) return owner;
  }
  // Made on the machine by the package's own script, and listed in no package.
  if (file === authorities) return 'ca-certificates';
  throw new Error(`${file} belongs to no Debian package, so the bill of materials cannot identify it`);
}
