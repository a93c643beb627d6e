import { isCopied, uncopiedPrefixes } from '../tenancy-data.ts';

/** What kube-apiserver puts before every key unless told otherwise, and behind kine nobody tells it. */
export const kineRoot = '/registry/';

/** The first name, in the order of bytes, behind all that begin with `kineRoot`. */
export const kineRootEnd = '/registry0';

/** kine's answer to kube-apiserver's health check: kine writes it when it starts. */
export const kineHealthName = `${kineRoot}health`;

/** What the names of keys begin with that mean something in one place only. */
export const uncopiedNames: readonly string[] = uncopiedPrefixes.map((prefix) => `${kineRoot}${prefix}`);

/** The name of the row that holds, as its `prev_revision`, up to where kine has compacted. */
export const compactionName = 'compact_rev_key';

/** What the names of rows that fill gaps begin with. */
export const gapPrefix = 'gap-';

/** The name of a row that fills a gap in the revisions; kine tells nobody of such rows. */
export function gapName(id: bigint): string {
  return `${gapPrefix}${id}`;
}

/** The name of a tenant's key in kine's table. */
export function nameOf(key: string): string {
  return `${kineRoot}${key}`;
}

/** The tenant's key in a name; undefined for names of kine's own and for those that only mean something in one place. */
export function keyOf(name: string): string | undefined {
  if (!name.startsWith(kineRoot) || name === kineHealthName) return undefined;
  const key = name.slice(kineRoot.length);
  return isCopied(key) ? key : undefined;
}
