import { libraryFiles } from '../../e2e/tools/library-files.ts';
import { authorities, ownArchitecture } from './image-system.ts';
import type { DebianPackage, ImageSystem } from './image-system.ts';
import { copyrightFiles } from './copyright-files.ts';
import { packageOf } from './package-of.ts';

/** The lower layer of an image for machines like this one, of its own files. */
export async function ownSystem(): Promise<ImageSystem> {
  const files = [...(await libraryFiles(process.execPath)), authorities];
  const packages = (): Promise<readonly DebianPackage[]> => Promise.all(files.map(packageOf));
  // An image for tests is built on other systems, too; a release is not.
  const known = await packages().catch(() => []);
  return {
    architecture: ownArchitecture,
    node: process.execPath,
    files: [...files.map((file) => ({ from: file, to: file })), ...copyrightFiles(known, process.execPath)],
    packages,
  };
}
