import type { Key } from '../../api/meta.ts';
import type { ClusterAddon } from './cluster-addon.ts';
import { completedClass } from './completed-class.ts';

/**
 * True if the add-ons of this class were completed last. A class of that name in another namespace is a different
 * class.
 */
export function hasCompleted(addon: ClusterAddon | undefined, classKey: Key): boolean {
  const completed = addon && completedClass(addon);
  return completed?.name === classKey.name && completed.namespace === classKey.namespace;
}
