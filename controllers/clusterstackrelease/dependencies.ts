import type { Key, Resource } from '../../api/meta.ts';
import type { Cluster } from '../../runtime/cluster.ts';
import type { InformerFactory } from '../../runtime/informer-factory.ts';
import type { KindDiscovery } from '../../runtime/kind-discovery.ts';
import type { ApplyMetrics } from '../../runtime/applier.ts';
import type { AssetStore } from '../../stacks/asset-store.ts';
import type { Renderer } from '../../stacks/renderer.ts';
import type { ManagerSource } from '../../stacks/stack-source.ts';
import type { ObjectMemory } from '../../runtime/object-memory.ts';

/** What the controller works with. */
export interface Dependencies {
  /** What is remembered of an object goes with it. */
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
  /** Asks for a visit of a release. */
  readonly poke: (release: Key) => void;
  readonly metrics?: ApplyMetrics;
}
