import { decodeBase58, encodeBase58 } from '../base58.ts';
import { bucketSubject } from './bucket.ts';

/** Where kube-apiserver keeps its keys. */
const root = '/registry/';

/** First token of kine's keys that begin without a slash. */
const rootless = 'meta';

/** So many parts are known at most. */
const mostKnown = 2000;

/** Remembers results: most keys have their resource and namespace in common. */
function remembered<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const computed = compute(text);
    if (known.size >= mostKnown) known.clear();
    known.set(text, computed);
    return computed;
  };
}

const token = remembered((part) => encodeBase58(Buffer.from(part === '' ? '/' : part)));

/** The part of a key that a token stands for; undefined for what is no token. */
const partOf = remembered((text) => {
  const bytes = decodeBase58(text);
  if (bytes === undefined) return undefined;
  const part = Buffer.from(bytes).toString('utf8');
  return part === '/' ? '' : part;
});

/** A key as kine v0.16 names it in a bucket: a token for each part of its path, and `meta` before one without a root. */
function bucketKey(key: string): string {
  const parts = (key.startsWith('/') ? key.slice(1) : key).split('/').map(token);
  return (key.startsWith('/') ? parts : [rootless, ...parts]).join('.');
}

/** The subject of a key below the tenant's root, e.g. `pods/default/a`. */
export function entrySubject(bucket: string, key: string): string {
  return bucketSubject(bucket, bucketKey(root + key));
}

/** All subjects below the tenant's root. */
export function entrySubjects(bucket: string): string {
  return bucketSubject(bucket, `${token('registry')}.>`);
}

/** The key below the tenant's root for a subject; undefined for subjects that the tenant's API server does not use. */
export function keyOfSubject(bucket: string, subject: string): string | undefined {
  const head = bucketSubject(bucket, `${token('registry')}.`);
  if (!subject.startsWith(head)) return undefined;
  const parts = subject.slice(head.length).split('.').map(partOf);
  if (parts.includes(undefined)) return undefined;
  const key = parts.join('/');
  // kine's own sign of life.
  return key === 'health' ? undefined : key;
}

/** What kine writes for itself: its sign of life, which it must write to start, and up to where it has compacted. */
export function kineSubjects(bucket: string): readonly string[] {
  return [
    bucketSubject(bucket, bucketKey('/registry/health')),
    bucketSubject(bucket, bucketKey('compact_rev_key_apiserver')),
  ];
}

/** A subject of the bucket that is no key of any tenant. */
export function raiseSubject(bucket: string): string {
  return bucketSubject(bucket, bucketKey('steward-raised'));
}
