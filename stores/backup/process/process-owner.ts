import type { Key, NamespacedResource } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';

/** The object that a process works for. Only who may write in the manager's namespace can write this annotation. */
export function processOwner(process: NamespacedResource | undefined): readonly Key[] {
  const [namespace, name] = (process?.metadata.annotations?.[annotations.backupOwner] ?? '').split('/');
  return namespace === undefined || name === undefined ? [] : [{ namespace, name }];
}
