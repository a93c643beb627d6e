import type { ClusterStackRelease } from '../../api/cluster-stack-release.ts';
import type { KindRef, Resource } from '../../../api/meta.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { describe } from '../../../runtime/cache/object-id.ts';
import type { Dependencies } from './dependencies.ts';
import { isRecorded } from './whose-object.ts';

/**
 * Deletes what the release created according to its status, and names what still exists. The ClusterClass is first, because its webhook
 * knows whether a Cluster uses it. An object that has another controller by now is not deleted.
 */
export async function removeObjects(
  { cluster, discovery }: Pick<Dependencies, 'cluster' | 'discovery'>,
  release: ClusterStackRelease,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { namespace } = release.metadata;
  const left: string[] = [];
  for (const { group = '', version = '', kind: named = '', name = '' } of classesFirst(release)) {
    const kind = await discovery.find(group === '' ? version : `${group}/${version}`, named, { signal });
    // A kind that is gone has taken its objects along.
    if (kind === undefined) continue;
    const remains = await remove(cluster, { kind, release, key: { namespace, name } }, signal);
    if (remains !== undefined) left.push(remains);
  }
  return left;
}

const classesFirst = ({ status }: ClusterStackRelease) =>
  [...(status?.resources ?? [])].sort((a, b) => Number(b.kind === 'ClusterClass') - Number(a.kind === 'ClusterClass'));

async function remove(
  cluster: Cluster,
  of: {
    readonly kind: KindRef;
    readonly release: ClusterStackRelease;
    readonly key: { readonly namespace: string; readonly name: string };
  },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { kind, release, key } = of;
  const object = await cluster.get(kind, key, { signal });
  if (object === undefined || !belongs(object, release)) return undefined;
  const { uid, deletionTimestamp } = object.metadata;
  if (deletionTimestamp === undefined) {
    await cluster.delete(kind, key, { propagation: 'Background', uid, signal });
  }
  return (await cluster.get(kind, key, { signal })) === undefined ? undefined : describe(object);
}

/** By its controller, or, for one that has lost it, by what the release recorded. */
function belongs(object: Resource, release: ClusterStackRelease): boolean {
  const controller = object.metadata.ownerReferences?.find((reference) => reference.controller === true);
  return controller === undefined ? isRecorded(object, release) : controller.uid === release.metadata.uid;
}
