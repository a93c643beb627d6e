import type { Key, Resource } from '../../../api/meta.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InformerFactory } from '../../../runtime/cache/informer-factory.ts';
import type { Informer, InformerSelection } from '../../../runtime/cache/informer.ts';
import type { PlannedCluster } from './planned-cluster.ts';

/** Kinds that the controllers read from caches; everything else is read from the cluster itself. */
const cached: ReadonlySet<string> = new Set([tenantControlPlane.kind, dataStore.kind]);

const health = {
  synced: true,
  absent: false,
  objects: 0,
  lastEvent: undefined,
  failingSince: undefined,
  failure: undefined,
} as const;

/** Informers of a planned cluster. They report nothing: a plan reconciles until nothing changes. */
export function plannedInformers(cluster: PlannedCluster): Pick<InformerFactory, 'informer'> {
  return {
    informer: <T extends Resource>({ kind }: InformerSelection<T>): Informer<T> => {
      const list = (): readonly T[] => (cached.has(kind.kind) ? cluster.known(kind) : []);
      return {
        kind,
        list: (namespace) =>
          list().filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
        get: ({ namespace, name }: Key) =>
          list().find(({ metadata }) => metadata.name === name && metadata.namespace === namespace),
        byIndex: () => [],
        addIndex: () => undefined,
        subscribe: () => () => undefined,
        synced: Promise.resolve(),
        health: () => health,
        lookAgain: () => undefined,
        close: () => Promise.resolve(),
      };
    },
  };
}
