import { createHash } from 'node:crypto';

/** A digest of a whole release for sources that have none: computed from the names and digests of its files, sorted by name. */
export function contentDigest(files: readonly { readonly name: string; readonly digest: string }[]): string {
  const lines = files
    .map(({ name, digest }) => `${digest}  ${name}\n`)
    .sort((a, b) => compare(a.slice(73), b.slice(73)));
  return `sha256:${createHash('sha256').update(lines.join('')).digest('hex')}`;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
