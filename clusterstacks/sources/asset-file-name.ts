import { BadReleaseError } from './asset-errors.ts';

/**
 * The name of a file in a release, which is a flat folder. The source chooses the name, so it must not lead outside the folder.
 * @throws BadReleaseError when it is not a plain name.
 */
export function assetFileName(name: string, source: string): string {
  const plain = name.startsWith('./') ? name.slice(2) : name;
  if (/^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$/.test(plain)) return plain;
  throw new BadReleaseError(
    `${source} contains a file named ${JSON.stringify(name.slice(0, 200))}: file names in a release may contain only letters, digits and . _ + -`,
  );
}
