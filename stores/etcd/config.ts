import { createHash } from 'node:crypto';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { CredentialReader } from '../credentials.ts';
import type { Credential } from '../credentials.ts';
import type { ReadSecret } from '../driver.ts';
import { StoreError } from '../store-error.ts';
import { readStoreTls } from '../store-tls.ts';

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

/**
 * Resolves and checks what the DataStore says. Throws `StoreError` (CredentialsMissing, CredentialsInvalid) that names every
 * field that is missing or broken.
 */
export async function readEtcdConfig(store: DataStore, read: ReadSecret): Promise<EtcdConfig> {
  const { spec } = store;
  const reader = new CredentialReader(read);
  reader.endpoints(spec.endpoints);
  const { ca, signer, client } = (await readStoreTls(reader, spec.tlsConfig, { required: true })) ?? {};
  reader.finish();
  if (ca === undefined || signer === undefined || client === undefined) {
    throw new StoreError('CredentialsInvalid', `the credentials of DataStore ${store.metadata.name} are incomplete`);
  }
  return { endpoints: spec.endpoints, ca, signer, client };
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
