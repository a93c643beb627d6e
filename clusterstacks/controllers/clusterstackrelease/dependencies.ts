import type { Key, Resource } from '../../../api/meta.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { InformerFactory } from '../../../runtime/cache/informer-factory.ts';
import type { KindDiscovery } from '../../../runtime/client/kind-discovery.ts';
import type { ApplyMetrics } from '../../../runtime/apply/applier.ts';
import type { AssetStore } from '../../sources/asset-store.ts';
import type { Renderer } from '../../sources/renderer.ts';
import type { ManagerSource } from '../../sources/stack-source.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';

/** What the controller works with. */
export interface Dependencies {
  /** What is remembered about an object is dropped with it. */
  readonly memory: ObjectMemory;
  readonly cluster: Cluster;
  readonly assets: Pick<AssetStore, 'assets' | 'current'>;
  readonly renderer: Pick<Renderer, 'render'>;
  /** Of the management cluster. */
  readonly discovery: Pick<KindDiscovery, 'find' | 'forget'>;
  /** The source of releases whose stack names none. */
  readonly source: ManagerSource;
  readonly watchFilter: string;
  /** `Kind.group` of what releases may make beside ClusterClasses and their templates. */
  readonly furtherKinds: ReadonlySet<string>;
  readonly informers: Pick<InformerFactory, 'informer'>;
  /** ClusterClasses that releases made, as they were seen last. */
  readonly classes: () => readonly Resource[];
  /** Releases of a namespace, as they were seen last. */
  readonly releases: (namespace: string) => readonly Resource[];
  /** Enqueues a release. */
  readonly enqueue: (release: Key) => void;
  readonly metrics?: ApplyMetrics;
}
