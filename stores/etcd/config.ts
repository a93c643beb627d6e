import { createHash } from 'node:crypto';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { certificateBundle, CredentialReader } from '../credentials.ts';
import type { Credential } from '../credentials.ts';
import type { ReadSecret } from '../driver.ts';
import { parseEndpoint } from '../endpoint.ts';
import { StoreError } from '../store-error.ts';

/** A DataStore of driver etcd with its credentials resolved and checked. Never logged. */
export interface EtcdConfig {
  /** `host:port`, in the DataStore's order. */
  readonly endpoints: readonly string[];
  /** PEM bundle that the servers' certificates are checked against; tenants get it too. */
  readonly ca: string;
  /** The CA of the bundle whose key we hold: signs tenants' client certificates. */
  readonly signer: Credential;
  /** The certificate of the administrator, which the manager uses. */
  readonly client: Credential;
}

const path = {
  caCertificate: 'spec.tlsConfig.certificateAuthority.certificate',
  caKey: 'spec.tlsConfig.certificateAuthority.privateKey',
  certificate: 'spec.tlsConfig.clientCertificate.certificate',
  key: 'spec.tlsConfig.clientCertificate.privateKey',
} as const;

/**
 * Resolves and checks what the DataStore says. Throws `StoreError` (CredentialsMissing, CredentialsInvalid) that names every
 * field that is missing or broken.
 */
export async function readEtcdConfig(store: DataStore, read: ReadSecret): Promise<EtcdConfig> {
  const tls = store.spec.tlsConfig;
  const reader = new CredentialReader(read);
  const [caPem, caKeyPem, clientPem, clientKeyPem] = await Promise.all([
    reader.text(tls?.certificateAuthority.certificate, path.caCertificate),
    reader.text(tls?.certificateAuthority.privateKey, path.caKey),
    reader.text(tls?.clientCertificate?.certificate, path.certificate),
    reader.text(tls?.clientCertificate?.privateKey, path.key),
  ]);
  store.spec.endpoints.forEach((endpoint, index) => {
    const parsed = parseEndpoint(endpoint);
    if (typeof parsed === 'string') reader.broken(`spec.endpoints[${index}] ${JSON.stringify(endpoint)} ${parsed}`);
  });
  const authorities = reader.certificates(caPem, path.caCertificate);
  const signer = reader.signer(authorities, caKeyPem, { certificate: path.caCertificate, key: path.caKey });
  const client = reader.pair(clientPem, clientKeyPem, path);
  reader.finish();
  if (authorities === undefined || signer === undefined || client === undefined) {
    throw new StoreError(
      'CredentialsInvalid',
      `the credentials of DataStore ${store.metadata.name ?? ''} are incomplete`,
    );
  }
  return { endpoints: store.spec.endpoints, ca: certificateBundle(authorities), signer, client };
}

/** SHA-256, in hex, over everything in the config. */
export function etcdChecksum(config: EtcdConfig): string {
  const parts = [
    ...config.endpoints,
    config.ca,
    config.signer.certificate,
    config.signer.key,
    config.client.certificate,
    config.client.key,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
