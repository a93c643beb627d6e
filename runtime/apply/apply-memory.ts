import { createHash } from 'node:crypto';
import type { Draft, Manifest, Resource } from '../../api/meta.ts';
import { isOlder } from '../cache/object-id.ts';

/** What is kept of one applied object: enough to see later that nothing has to be sent. */
export interface Applied {
  readonly hash: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number | undefined;
}

/** Remembers an apply: the manifest that was sent and the object that the server answered with. */
export function rememberApplied(manifest: Manifest, object: Resource): Applied {
  const { uid, resourceVersion, generation } = object.metadata;
  return { hash: hashOf(manifest), uid, resourceVersion, generation };
}

/** True when the manifest is the one that was applied last. */
export function isSameManifest(applied: Applied, manifest: Manifest): boolean {
  return applied.hash === hashOf(manifest);
}

/**
 * True if applying again would change nothing: the same manifest, and the object has not changed since. Controllers write
 * status all the time, so for kinds with generations an equal generation and unchanged metadata of ours are enough. A
 * cached object that is older than our own write counts as unchanged, because the cache is behind.
 */
export function isStillApplied(applied: Applied, manifest: Manifest, current: Resource): boolean {
  const { metadata } = current;
  if (!isSameManifest(applied, manifest) || applied.uid !== metadata.uid) return false;
  if (applied.resourceVersion === metadata.resourceVersion) return true;
  if (isOlder(metadata.resourceVersion, applied.resourceVersion)) return true;
  return applied.generation !== undefined && applied.generation === metadata.generation && carries(current, manifest);
}

/**
 * True when the object that an apply returned shows that someone had changed it. `current` is the object as it was
 * before, where it is known; without it, a moved generation (or version) is the sign.
 */
export function isDrift(applied: Applied, after: Resource, current: Resource | undefined): boolean {
  if (applied.uid !== after.metadata.uid) return true;
  if (current !== undefined) return current.metadata.resourceVersion !== after.metadata.resourceVersion;
  if (applied.generation !== undefined) return applied.generation !== after.metadata.generation;
  return applied.resourceVersion !== after.metadata.resourceVersion;
}

/** True when an object still has all of a manifest's labels, annotations, owners and finalizers. */
export function carries(current: Pick<Draft, 'metadata'>, manifest: Pick<Manifest, 'metadata'>): boolean {
  const has = (all: Readonly<Record<string, string>> = {}, some: Readonly<Record<string, string>> = {}): boolean =>
    Object.entries(some).every(([key, value]) => all[key] === value);
  const uids = new Set(current.metadata.ownerReferences?.map(({ uid }) => uid));
  return (
    has(current.metadata.labels, manifest.metadata.labels) &&
    has(current.metadata.annotations, manifest.metadata.annotations) &&
    (manifest.metadata.ownerReferences ?? []).every(({ uid }) => uids.has(uid)) &&
    (manifest.metadata.finalizers ?? []).every((name) => current.metadata.finalizers?.includes(name))
  );
}

function hashOf(manifest: Manifest): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('base64url');
}
