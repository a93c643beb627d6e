import { storedMeta } from '../../../../api/as-stored.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { KeyPair } from '../../../../kubeadm/pki/key-pair.ts';

/** Who administers, and how it is reached. */
export interface PostgresLogin {
  /** As `host:port`. */
  readonly endpoints: readonly string[];
  readonly username: string;
  readonly password: string;
  /** Absent without TLS. */
  readonly ca?: Pick<KeyPair, 'certificate'> | undefined;
  /** The CA's key, for certificates of tenants. */
  readonly caKey?: string | undefined;
  readonly client?: KeyPair | undefined;
}

const inline = (text: string): { readonly content: string } => ({ content: Buffer.from(text).toString('base64') });

/** A DataStore of driver PostgreSQL with inline credentials. */
export function describePostgres({ endpoints, username, password, ca, caKey, client }: PostgresLogin): DataStore {
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name: 'postgres' }),
    spec: {
      driver: 'PostgreSQL',
      endpoints,
      basicAuth: { username: inline(username), password: inline(password) },
      ...(ca && {
        tlsConfig: {
          certificateAuthority: {
            certificate: inline(ca.certificate),
            ...(caKey !== undefined && { privateKey: inline(caKey) }),
          },
          ...(client && {
            clientCertificate: { certificate: inline(client.certificate), privateKey: inline(client.key) },
          }),
        },
      }),
    },
  };
}
