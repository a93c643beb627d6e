import type { ObjectMeta, Resource } from '../../api/meta.ts';
import { sameJson } from '../client/merge-patch-of.ts';

/**
 * True when an update of an object changed nothing but its status, or added finalizers of its controller: the echo of a
 * reconcile and no reason for another. Kinds that do not count generations never echo.
 */
export function isOwnEcho(old: Resource, now: Resource, finalizers: readonly string[] = []): boolean {
  if (now.metadata.generation === undefined || old.metadata.generation !== now.metadata.generation) return false;
  const before = old.metadata.finalizers ?? [];
  const added = finalizers.filter((name) => !before.includes(name));
  const left = now.metadata.finalizers?.filter((name) => !added.includes(name)) ?? [];
  return sameJson(lasting(old.metadata, before), lasting(now.metadata, left));
}

function lasting(metadata: ObjectMeta, finalizers: readonly string[]): unknown {
  return { ...metadata, finalizers, resourceVersion: undefined, managedFields: undefined };
}
