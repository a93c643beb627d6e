import type { ClusterStack } from '../api/cluster-stack.ts';
import type { ClusterStackRelease } from '../api/cluster-stack-release.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';
import { versionIn } from './release-name.ts';

type Use = ReadonlyMap<string, readonly string[]>;

const remedy = 'move these Clusters to the ClusterClass of another release, or delete them first';

/** Why a release may not be deleted: which Clusters use it, wherever they are. */
export function validateReleaseDeletion({ metadata }: ClusterStackRelease, use: Use): readonly InvalidInput[] {
  const { namespace, name } = metadata;
  const users = use.get(`${namespace}/${name}`) ?? [];
  if (users.length === 0) return [];
  const reason = `cannot be deleted: its ClusterClass is used by ${users.join(', ')}`;
  return [{ field: 'metadata.name', value: name, reason, remedy }];
}

/** Why a stack may not be deleted: which Clusters use its releases, wherever they are. */
export function validateStackDeletion({ metadata, spec }: ClusterStack, use: Use): readonly InvalidInput[] {
  const { namespace, name } = metadata;
  const prefix = `${namespace}/`;
  const users = [...use].flatMap(([release, clusters]) => {
    const isOurs = release.startsWith(prefix) && versionIn(spec, release.slice(prefix.length)) !== undefined;
    return isOurs ? clusters : [];
  });
  if (users.length === 0) return [];
  const reason = `cannot be deleted: its releases are used by ${[...new Set(users)].sort().join(', ')}`;
  return [{ field: 'metadata.name', value: name, reason, remedy }];
}
