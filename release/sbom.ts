import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { LockedPackages } from './npm-components.ts';
import { npmComponents } from './npm-components.ts';
import type { DebianPackage } from './system/image-system.ts';

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
  /** The Debian packages below, of all architectures. */
  readonly debian: readonly DebianPackage[];
}

/**
 * What is in the image: the npm packages of the bundle, Node itself, and the Debian packages of the system's files. Equal
 * releases have equal bills: there is neither a time nor a serial number in it.
 */
export async function imageSbom(version: string, { packages, debian }: ImageParts): Promise<Sbom> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as { packages: LockedPackages };
  const { version: node } = process;
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    metadata: { component: { type: 'container', name: 'steward', version } },
    components: [
      ...npmComponents(packages, lock.packages),
      { type: 'platform', name: 'node', version: node, purl: `pkg:generic/node@${node.slice(1)}` },
      ...debianComponents(debian),
    ],
  };
}

/** Each package once. */
function debianComponents(packages: readonly DebianPackage[]): readonly SbomComponent[] {
  const components = packages.map(({ name, version, architecture }): SbomComponent => {
    const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
    return { type: 'library', name, version, purl };
  });
  const byPurl = new Map(components.map((component) => [component.purl, component]));
  return [...byPurl.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1));
}
