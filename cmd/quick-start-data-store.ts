import type { Manifest } from '../api/meta.ts';
import { apiVersionOf } from '../api/meta.ts';
import { dataStore } from '../api/steward/v1alpha1/data-store.ts';

/** Where the members of the quick-start etcd are. */
export interface QuickStartEtcd {
  /** Of the DataStore. */
  readonly name: string;
  readonly namespace: string;
  readonly clusterDomain: string;
  readonly members: number;
}

/** The DataStore of the quick-start etcd: that of config/datastores/etcd under a name of its own, in another namespace. */
export function quickStartDataStore({ name, namespace, clusterDomain, members }: QuickStartEtcd): Manifest {
  const secret = (keyPath: string) => ({ secretReference: { name: 'etcd-certs', namespace, keyPath } });
  return {
    apiVersion: apiVersionOf(dataStore),
    kind: dataStore.kind,
    metadata: { name },
    spec: {
      driver: 'etcd',
      endpoints: Array.from(
        { length: members },
        (_, member) => `etcd-${member}.etcd.${namespace}.svc.${clusterDomain}:2379`,
      ),
      tlsConfig: {
        certificateAuthority: { certificate: secret('ca.crt'), privateKey: secret('ca.key') },
        clientCertificate: { certificate: secret('tls.crt'), privateKey: secret('tls.key') },
      },
      etcd: { compaction: {}, defragmentation: {} },
    },
  };
}
