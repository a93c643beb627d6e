import { BadReleaseError } from './asset-errors.ts';

/**
 * The name of a file of a release, which is a flat folder. A source says the name; nothing outside of the folder may come of it.
 * @throws BadReleaseError when it is no plain name.
 */
export function assetFileName(name: string, source: string): string {
  const plain = name.startsWith('./') ? name.slice(2) : name;
  if (/^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$/.test(plain)) return plain;
  throw new BadReleaseError(
    `${source} has a file called ${JSON.stringify(name.slice(0, 200))}: files of a release have plain names of letters, digits and . _ + -`,
  );
}
