import type { KindRef, Manifest, Resource } from '../../api/meta.ts';
import type { Cluster, WriteOptions } from './cluster.ts';
import { isAlreadyExists } from './is-already-exists.ts';

/** Creates an object; one of its name that exists is left as it is, whoever made it. */
export async function createIfAbsent<T extends Resource>(
  cluster: Pick<Cluster, 'create'>,
  { kind, manifest }: { readonly kind: KindRef<T>; readonly manifest: Manifest },
  options: WriteOptions,
): Promise<void> {
  try {
    await cluster.create(kind, manifest, options);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
