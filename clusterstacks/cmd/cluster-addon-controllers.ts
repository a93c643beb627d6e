import { capiCluster, capiClusterClass } from '../../api/cluster-api/kinds.ts';
import { clusterStackLabels } from '../api/names.ts';
import { clusterWatchController } from '../controllers/clusteraddon/cluster-controller.ts';
import { clusterAddonController } from '../controllers/clusteraddon/controller.ts';
import { releaseAssetsOf } from '../controllers/clusteraddon/release-assets-of.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Controller } from '../../runtime/reconcile/controller.ts';
import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import type { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import type { AssetStore } from '../sources/asset-store.ts';
import type { Renderer } from '../sources/renderer.ts';
import type { ManagerSource } from '../sources/stack-source.ts';
import type { TenantPool } from '../../tenants/pool.ts';

/** What the controllers of add-ons are made of. */
export interface ClusterAddonParts {
  readonly cluster: Cluster;
  readonly memory: ObjectMemory;
  readonly clock: Clock;
  readonly informers: Pick<InformerFactory, 'informer'>;
  readonly assets: AssetStore;
  readonly renderer: Renderer;
  readonly source: ManagerSource;
  readonly pool: TenantPool;
  readonly watchFilter: string;
}

/** The controllers that give Clusters of cluster stacks their add-ons. */
export function clusterAddonControllers(parts: ClusterAddonParts): readonly Controller[] {
  const { cluster, memory, clock, informers, assets: store, renderer, source, pool, watchFilter } = parts;
  const assets = releaseAssetsOf({ cluster, store, source });
  // The same watches as the controllers', so that nothing is followed twice.
  const classes = {
    kind: capiClusterClass,
    labelSelector: clusterStackLabels.release,
    metadataOnly: true,
    optional: true,
  };
  const seen = {
    clusters: () => informers.informer({ kind: capiCluster, optional: true }).list(),
    classes: () => informers.informer(classes).list(),
  };
  return [
    clusterAddonController({
      ...{ cluster, memory, seen, clock, random: Math.random },
      ...{ watchFilter, renderer, pool, assets },
    }),
    clusterWatchController({ cluster, watchFilter, clusters: seen.clusters }),
  ];
}
