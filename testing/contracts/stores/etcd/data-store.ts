import { storedMeta } from '../../../../api/as-stored.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { KeyPair } from '../../../../kubeadm/pki/key-pair.ts';
import { startEtcd } from '../../../servers/etcd-server.ts';
import type { EtcdOptions, EtcdServer, EtcdTls } from '../../../servers/etcd-server.ts';

/** Real etcd processes with TLS, and the DataStore that describes them. */
export interface EtcdDataStore extends AsyncDisposable {
  readonly server: EtcdServer;
  readonly tls: EtcdTls;
  readonly dataStore: DataStore;
}

const content = (pem: string): { readonly content: string } => ({ content: Buffer.from(pem).toString('base64') });

/** A DataStore of driver etcd with inline credentials. `endpoints` as `host:port`. */
export function describeEtcd(endpoints: readonly string[], ca: KeyPair, client: KeyPair): DataStore {
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name: 'default' }),
    spec: {
      driver: 'etcd',
      endpoints,
      tlsConfig: {
        certificateAuthority: { certificate: content(ca.certificate), privateKey: content(ca.key) },
        clientCertificate: { certificate: content(client.certificate), privateKey: content(client.key) },
      },
    },
  };
}

/** Starts etcd with TLS and, by default, authentication. */
export async function startEtcdDataStore(options: Omit<EtcdOptions, 'tls'> = {}): Promise<EtcdDataStore> {
  const server = await startEtcd({ auth: true, ...options, tls: true });
  if (server.tls === undefined) throw new Error('etcd was started without TLS');
  const endpoints = server.endpoints.map((endpoint) => new URL(endpoint).host);
  return {
    server,
    tls: server.tls,
    dataStore: describeEtcd(endpoints, server.tls.ca, server.tls.root),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
