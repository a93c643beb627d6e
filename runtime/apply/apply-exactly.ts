import type { KindRef, Manifest, Resource } from '../../api/meta.ts';
import { keyOf } from '../cache/object-id.ts';
import type { ApplyOptions, Cluster } from '../client/cluster.ts';
import { sameJson } from '../client/merge-patch-of.ts';

/**
 * Applies a manifest, and removes what others have added to its spec. Server-side apply leaves fields and list items of other
 * field managers in place: one more condition on a policy, for example, can take away its effect. The manifest must contain the
 * fields that the API server would otherwise set by default; each that is missing costs a second request.
 */
export async function applyExactly<T extends Resource>(
  cluster: Cluster,
  { kind, manifest }: { readonly kind: KindRef<T>; readonly manifest: Manifest },
  options: ApplyOptions,
): Promise<T> {
  const object = await cluster.apply(kind, manifest, options);
  if (hasExactSpec(object, manifest)) return object;
  const body = [{ op: 'replace', path: '/spec', value: manifest.spec }];
  const { fieldManager, signal } = options;
  return cluster.patch(kind, keyOf(manifest), { type: 'json', body }, { fieldManager, signal });
}

/** True when the spec of an object is the one of the manifest: nothing is missing, changed or added. */
export function hasExactSpec(object: Resource, manifest: Manifest): boolean {
  return sameJson(specOf(object), specOf(manifest));
}

function specOf(object: object): unknown {
  return Reflect.get(object, 'spec');
}
