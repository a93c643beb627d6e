import type { ConfigMap } from '../../api/core/kinds.ts';
import type { DraftOf, Key, Manifest } from '../../api/meta.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';

/** What the suite needs of a cluster: a client, and a separate namespace. */
export interface ClusterUnderTest {
  readonly cluster: Cluster;
  readonly namespace: string;
  close(): Promise<void>;
}

/** Makes a ConfigMap in that namespace. */
export type Make = (key: string, more?: Partial<DraftOf<ConfigMap>>) => Promise<ConfigMap>;
/** The key of a name there. */
export type At = (key: string) => Key;

/** A ConfigMap for tests. */
export function configMap(
  namespace: string,
  name: string,
  more: Partial<DraftOf<ConfigMap>> = {},
): Manifest & DraftOf<ConfigMap> {
  const { metadata, ...rest } = more;
  return { apiVersion: 'v1', kind: 'ConfigMap', ...rest, metadata: { ...metadata, name, namespace } };
}

/** A Deployment with one container, as small as the server accepts. */
export function sampleDeployment(namespace: string, name: string): Manifest {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'example.com/a:1' }] } },
    },
  };
}
