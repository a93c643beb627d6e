import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { baseEntries, fileEntry, filesBelow } from '../e2e/tools/image-contents.ts';
import { writeImageArchive } from '../e2e/tools/oci-archive.ts';
import type { TarEntry } from '../e2e/tools/tar-writer.ts';
import { buildBundle } from './build-bundle.ts';
import type { ImageSystem } from './system/image-system.ts';
import { ownSystem } from './system/own-system.ts';

const root = join(import.meta.dirname, '..');

/** The image's name in config/manager. */
export const managerImage = 'ghcr.io/butlerdotdev/steward:v0.17.0';

/**
 * The allocator of glibc raises both thresholds when a large buffer is freed, and then keeps what was used once. Here it gives back to the
 * system what is free at the end of its memory, and maps larger buffers each by itself.
 */
const allocator = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_ARENA_MAX: '2' };

/** How the image runs, as the last stage of the Dockerfile says it. */
export const managerRuntime = {
  entrypoint: ['/manager'],
  command: ['manager'],
  environment: { NODE_ENV: 'production', ...allocator },
  user: '65532:65532',
} as const;

/** Where the bundle, the license and the program stand in the image. */
export const managerPlaces = {
  app: '/app',
  license: '/app/LICENSE',
  program: '/manager',
  target: '/app/steward.mjs',
  node: '/nodejs/bin/node',
  helm: '/usr/local/bin/helm',
} as const;

/** What is put into the image beside what it is made of. */
export interface ManagerImageOptions {
  /** Full name with tag; that of config/manager by default. */
  readonly name?: string;
  /** Without a v; that of package.json by default. */
  readonly version?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** What it stands on; that of this machine by default. */
  readonly system?: ImageSystem;
  /** Path of the helm that a third layer brings, for cluster stacks; no such layer by default. */
  readonly helm?: string;
}

/**
 * Writes the image of the manager as an OCI archive: the layers that the Dockerfile describes, without a registry or a
 * container engine. Node with the libraries it is linked to below, the bundle above, helm on top where it is wanted.
 * @param path of the archive, which is replaced.
 * @returns the folders of the npm packages in the bundle, as package-lock.json names them.
 */
export async function writeManagerImage(path: string, options: ManagerImageOptions = {}): Promise<readonly string[]> {
  // A folder of its own: several stages on one host may build at the same time.
  const bundle = `${path}.bundle`;
  const packages = await buildBundle(bundle, options.version);
  const { architecture, node, files } = options.system ?? (await ownSystem());
  const system: TarEntry[] = [
    ...baseEntries,
    fileEntry(node, managerPlaces.node),
    ...files.map(({ from, to }) => fileEntry(from, to)),
  ];
  const app: TarEntry[] = [
    ...(await filesBelow(bundle, managerPlaces.app)),
    fileEntry(join(root, 'LICENSE'), managerPlaces.license),
    { kind: 'symlink', path: managerPlaces.program, target: managerPlaces.target },
  ];
  const tools: TarEntry[] = options.helm === undefined ? [] : [fileEntry(options.helm, managerPlaces.helm)];
  await writeImageArchive(
    {
      names: [options.name ?? managerImage],
      layers: [system, app, tools].filter((layer) => layer.length > 0),
      architecture,
      ...managerRuntime,
      labels: options.labels,
    },
    path,
  );
  await rm(bundle, { recursive: true, force: true });
  return packages;
}
