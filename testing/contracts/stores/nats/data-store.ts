import { storedMeta } from '../../../../api/as-stored.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { systemCredentials } from '../../../../stores/nats/operator.ts';
import { startNats } from '../../../servers/nats-server.ts';
import type { NatsOptions, NatsServer } from '../../../servers/nats-server.ts';

/** A real NATS and the DataStore that describes it, with its credentials inline. */
export interface NatsDataStore extends AsyncDisposable {
  readonly server: NatsServer;
  readonly dataStore: DataStore;
}

const content = (text: string) => ({ content: Buffer.from(text).toString('base64') });

/** Starts NATS and describes it. With `tls: 'verify'` the DataStore holds the CA's key, so that tenants get certificates. */
export async function startNatsDataStore(options: NatsOptions): Promise<NatsDataStore> {
  const server = await startNats(options);
  const { auth } = options;
  const { tls } = server;
  const tlsConfig = tls && {
    certificateAuthority: {
      certificate: content(tls.ca.certificate),
      ...(options.tls === 'verify' && { privateKey: content(tls.ca.key) }),
    },
    ...(options.tls === 'verify' && {
      clientCertificate: { certificate: content(tls.client.certificate), privateKey: content(tls.client.key) },
    }),
  };
  const login =
    auth === 'accounts'
      ? {
          nats: {
            operatorKey: content(server.keys.signing.seed),
            systemCredentials: content(systemCredentials(server.keys)),
            replicas: options.servers ?? 1,
            storagePerTenant: '64Mi',
          },
        }
      : { basicAuth: { username: content(auth.user), password: content(auth.password) } };
  return {
    server,
    dataStore: {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'DataStore',
      metadata: storedMeta({ name: 'nats' }),
      spec: { driver: 'NATS', endpoints: [...server.endpoints], ...login, tlsConfig },
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
