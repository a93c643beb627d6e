import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { LockedPackages } from './npm-components.ts';
import { npmComponents } from './npm-components.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');

/** A part of the image that comes from elsewhere (CycloneDX 1.5, component). */
export interface SbomComponent {
  readonly type: 'library' | 'platform';
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly { readonly expression: string }[];
}

/** A bill of materials in CycloneDX. */
export interface Sbom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.5';
  readonly metadata: object;
  readonly components: readonly SbomComponent[];
}

/** What an image consists of. */
export interface ImageParts {
  /** Folders of the npm packages in the bundle, as package-lock.json names them. */
  readonly packages: readonly string[];
  /** Files of this machine. */
  readonly systemFiles: readonly string[];
}

/**
 * What is in the image: the npm packages of the bundle, Node itself, and the Debian packages of the system's files. Equal
 * releases have equal bills: there is neither a time nor a serial number in it.
 */
export async function imageSbom(version: string, { packages, systemFiles }: ImageParts): Promise<Sbom> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as { packages: LockedPackages };
  const { version: node } = process;
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    metadata: { component: { type: 'container', name: 'steward', version } },
    components: [
      ...npmComponents(packages, lock.packages),
      { type: 'platform', name: 'node', version: node, purl: `pkg:generic/node@${node.slice(1)}` },
      ...(await debianPackages(systemFiles)),
    ],
  };
}

/** The Debian packages that these files belong to, each once. Throws for a file that belongs to no package: it could not be identified. */
async function debianPackages(files: readonly string[]): Promise<readonly SbomComponent[]> {
  const found = await Promise.all(files.map(debianPackage));
  const byName = new Map(found.map((component) => [component.name, component]));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function debianPackage(file: string): Promise<SbomComponent> {
  const name = await ownerOf(file);
  const { stdout } = await run('dpkg-query', ['-W', '-f', '${Version} ${Architecture}', name]);
  const [version = '', architecture = ''] = stdout.split(' ');
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
  return { type: 'library', name, version, purl };
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
  if (file === '/etc/ssl/certs/ca-certificates.crt') return 'ca-certificates';
  throw new Error(`${file} belongs to no Debian package, so the bill of materials cannot identify it`);
}
