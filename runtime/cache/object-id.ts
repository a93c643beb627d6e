import type { Draft, Key } from '../../api/meta.ts';

/** Names an object for people: `Deployment default/tenant-00`, or `Namespace kube-system`. */
export function describe(object: Draft): string {
  return `${object.kind} ${textOf(keyOf(object))}`;
}

/** An object's key. Throws nothing: an object without a name has an empty one. */
export function keyOf(object: Draft): Key {
  const { namespace, name = '' } = object.metadata;
  return namespace === undefined || namespace === '' ? { name } : { namespace, name };
}

/** `namespace/name`, or `name` for cluster-scoped objects. */
export function textOf(key: Key): string {
  return key.namespace === undefined || key.namespace === '' ? key.name : `${key.namespace}/${key.name}`;
}

/** The inverse of `textOf`. */
export function keyFrom(text: string): Key {
  const slash = text.indexOf('/');
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** Distinguishes an object from every other of its server, versions of one group apart: group, kind and key. */
export function identityOf(object: Draft): string {
  const group = object.apiVersion.includes('/') ? object.apiVersion.slice(0, object.apiVersion.indexOf('/')) : '';
  return `${group}/${object.kind}/${textOf(keyOf(object))}`;
}

/**
 * Whether version `a` of an object is older than `b`. Versions are compared as numbers, which Kubernetes guarantees for
 * objects of one resource; false when either is no number.
 */
export function isOlder(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined || !/^\d+$/.test(a) || !/^\d+$/.test(b)) return false;
  return BigInt(a) < BigInt(b);
}

/** Whether version `a` is `b` or a later one, which must be known: false when either is no number. */
export function isUpTo(a: string | undefined, b: string): boolean {
  return a !== undefined && /^\d+$/.test(a) && /^\d+$/.test(b) && BigInt(a) >= BigInt(b);
}
