import { libraryFiles } from '../../e2e/tools/library-files.ts';
import { authorities, ownArchitecture } from './image-system.ts';
import type { ImageSystem } from './image-system.ts';
import { packageOf } from './package-of.ts';

/** The lower layer of an image for machines like this one, of its own files. */
export async function ownSystem(): Promise<ImageSystem> {
  const files = [...(await libraryFiles(process.execPath)), authorities];
  return {
    architecture: ownArchitecture,
    node: process.execPath,
    files: files.map((file) => ({ from: file, to: file })),
    packages: () => Promise.all(files.map(packageOf)),
  };
}
