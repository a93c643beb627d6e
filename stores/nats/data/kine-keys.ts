import { decodeBase58, encodeBase58 } from '../base58.ts';
import { bucketSubject } from './bucket.ts';

/** Where kube-apiserver keeps its keys. */
const root = '/registry/';

/** First token of kine's keys that begin without a slash. */
const rootless = 'meta';

const token = (part: string): string => encodeBase58(Buffer.from(part === '' ? '/' : part));

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
  const parts = subject
    .slice(head.length)
    .split('.')
    .map((part) => decodeBase58(part));
  if (parts.some((part) => part === undefined)) return undefined;
  const key = parts.map((part) => Buffer.from(part ?? []).toString('utf8')).map((part) => (part === '/' ? '' : part));
  // kine's own sign of life.
  return key.join('/') === 'health' ? undefined : key.join('/');
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
