import { capiCluster, capiClusterClass } from '../../api/cluster-api/kinds.ts';
import { clusterStackRelease } from '../api/cluster-stack-release.ts';
import { clusterStack } from '../api/cluster-stack.ts';
import { clusterStackLabels } from '../api/names.ts';
import type { Key } from '../../api/meta.ts';
import { clusterStackController } from '../controllers/clusterstack/controller.ts';
import { clusterStackReleaseController } from '../controllers/clusterstackrelease/controller.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Controller } from '../../runtime/reconcile/controller.ts';
import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { KindDiscovery } from '../../runtime/client/kind-discovery.ts';
import type { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import type { AssetStore } from '../sources/asset-store.ts';
import type { Renderer } from '../sources/renderer.ts';
import type { ManagerSource } from '../sources/stack-source.ts';

/** What the controllers of cluster stacks are made of. */
export interface ClusterStackParts {
  readonly cluster: Cluster;
  readonly memory: ObjectMemory;
  readonly informers: Pick<InformerFactory, 'informer'>;
  readonly assets: AssetStore;
  readonly renderer: Renderer;
  readonly source: ManagerSource;
  readonly watchFilter: string;
  readonly furtherKinds: ReadonlySet<string>;
  readonly enqueue: (controller: string, key: Key) => void;
}

/** The controllers that turn ClusterStacks into ClusterClasses. */
export function clusterStackControllers(parts: ClusterStackParts): readonly Controller[] {
  const { cluster, memory, informers, assets, renderer, source, watchFilter, furtherKinds, enqueue } = parts;
  const discovery = new KindDiscovery(cluster);
  const classes = {
    kind: capiClusterClass,
    labelSelector: clusterStackLabels.release,
    metadataOnly: true,
    optional: true,
  };
  const common = {
    ...{ cluster, memory, assets, discovery, source, watchFilter },
    classes: () => informers.informer(classes).list(),
  };
  return [
    clusterStackController({
      ...common,
      clusters: () => informers.informer({ kind: capiCluster, optional: true }).list(),
      stacks: (namespace) => informers.informer({ kind: clusterStack }).list(namespace),
    }),
    clusterStackReleaseController({
      ...common,
      renderer,
      furtherKinds,
      informers,
      releases: (namespace) => informers.informer({ kind: clusterStackRelease }).list(namespace),
      enqueue: (key) => {
        enqueue('clusterstackrelease', key);
      },
    }),
  ];
}
