import { clusterStack } from '../../api/cluster-stack.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { AssetStore } from '../../sources/asset-store.ts';
import type { ManagerSource } from '../../sources/stack-source.ts';
import { sourceOf } from '../../sources/stack-source.ts';
import type { Dependencies } from './dependencies.ts';
import { StageError, lookAgain } from './stage-error.ts';

/** Where files of releases come from. */
export interface ReleaseSource {
  readonly cluster: Pick<Cluster, 'get'>;
  readonly store: Pick<AssetStore, 'assets'>;
  /** For stacks that name no source of their own. */
  readonly source: ManagerSource;
}

/** Fetches the files of a release by its digest, from the source of the ClusterStack that owns it. */
export function releaseAssetsOf({ cluster, store, source }: ReleaseSource): Dependencies['assets'] {
  return async ({ metadata, status }, signal) => {
    const { name, namespace, ownerReferences = [] } = metadata;
    const owner = ownerReferences.find(({ kind }) => kind === clusterStack.kind);
    const stack = owner && (await cluster.get(clusterStack, { namespace, name: owner.name }, { signal }));
    const found = await sourceOf(stack, source, (key) => cluster.get(kinds.Secret, key, { signal }));
    if ('reason' in found) {
      throw new StageError({ type: 'AssetsClientAPIAvailable', ...found, afterMs: lookAgain.late });
    }
    const digest = status?.digest;
    return store.assets(found.address, { name, digest }, signal);
  };
}
