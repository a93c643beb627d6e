import type { Key } from '../meta.ts';
import type { ClusterAddon } from './cluster-addon.ts';
import { completedClass } from './completed-class.ts';

/** Whether the class whose add-ons were completed last is this one. A class of the same name in another namespace is another one. */
export function hasCompleted(addon: ClusterAddon | undefined, classKey: Key): boolean {
  const completed = addon && completedClass(addon);
  return completed?.name === classKey.name && completed.namespace === classKey.namespace;
}
