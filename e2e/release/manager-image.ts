import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { baseEntries, fileEntry, filesBelow } from '../tools/image-contents.ts';
import { libraryFiles } from '../tools/library-files.ts';
import { writeImageArchive } from '../tools/oci-archive.ts';
import type { TarEntry } from '../tools/tar-writer.ts';
import { buildBundle } from './build-bundle.ts';

const root = join(import.meta.dirname, '..', '..');

/** The image's name in config/manager. */
export const managerImage = 'ghcr.io/butlerdotdev/steward:v0.1.0';

const authorities = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Writes the image of the manager as an OCI archive: the layers that the Dockerfile describes, without a registry or a
 * container engine. Node with the libraries it is linked to below, the bundle above.
 * @param path of the archive, which is replaced.
 */
export async function writeManagerImage(path: string): Promise<void> {
  // A folder of its own: several stages on one host may build at the same time.
  const bundle = `${path}.bundle`;
  await buildBundle(bundle);
  const node = process.execPath;
  const libraries = await libraryFiles(node);
  const system: TarEntry[] = [
    ...baseEntries,
    fileEntry(node, '/nodejs/bin/node'),
    ...libraries.map((library) => fileEntry(library)),
    fileEntry(authorities),
  ];
  const app: TarEntry[] = [
    ...(await filesBelow(bundle, '/app')),
    fileEntry(join(root, 'LICENSE'), '/app/LICENSE'),
    { kind: 'symlink', path: '/manager', target: '/app/steward.mjs' },
  ];
  await writeImageArchive(
    {
      names: [managerImage],
      layers: [system, app],
      architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      entrypoint: ['/manager'],
      command: ['manager'],
      environment: { NODE_ENV: 'production' },
      user: '65532:65532',
    },
    path,
  );
  await rm(bundle, { recursive: true, force: true });
}
