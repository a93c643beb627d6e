import { isCopied, uncopiedPrefixes } from '../tenancy-data.ts';

/** The default key prefix of kube-apiserver, which is always used with kine. */
export const kineRoot = '/registry/';

/** The first name, in byte order, after all names that begin with `kineRoot`. */
export const kineRootEnd = '/registry0';

/** kine's answer to kube-apiserver's health check: kine writes it when it starts. */
export const kineHealthName = `${kineRoot}health`;

/** Prefixes of the names of keys that are not copied, because they are valid in one datastore only. */
export const uncopiedNames: readonly string[] = uncopiedPrefixes.map((prefix) => `${kineRoot}${prefix}`);

/** The name of the row whose `prev_revision` is the revision up to which kine has compacted. */
export const compactionName = 'compact_rev_key';

/** Prefix of the names of rows that fill gaps. */
export const gapPrefix = 'gap-';

/** The name of a row that fills a gap in the revisions; kine does not report such rows to watches. */
export function gapName(id: bigint): string {
  return `${gapPrefix}${id}`;
}

/** The name of a tenant's key in kine's table. */
export function nameOf(key: string): string {
  return `${kineRoot}${key}`;
}

/** The tenant's key in a name; undefined for kine's own names and for keys that are not copied. */
export function keyOf(name: string): string | undefined {
  if (!name.startsWith(kineRoot) || name === kineHealthName) return undefined;
  const key = name.slice(kineRoot.length);
  return isCopied(key) ? key : undefined;
}
