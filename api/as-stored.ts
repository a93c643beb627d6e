import type { DraftOf, ObjectMeta, Resource, StoredMeta } from './meta.ts';

/** The metadata as what reads stored objects expects it: what an API server has not given yet is empty. */
export function storedMeta(
  given: ObjectMeta,
): StoredMeta & { readonly namespace: string; readonly generation: number } {
  const { name = '', namespace = '', uid = '', resourceVersion = '', generation = 0 } = given;
  return { ...given, name, namespace, uid, resourceVersion, generation };
}

/** An object that need not be stored, for what judges stored ones. It is not sent: its empty fields would be, too. */
export function asStored<T extends Resource>(draft: DraftOf<T>): T {
  const stored: Resource = { ...draft, metadata: storedMeta(draft.metadata) };
  return stored as T;
}
