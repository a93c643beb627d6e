import type { ContentRef, DataStoreSpec } from '../api/steward/v1alpha1/data-store.ts';
import { certificateBundle } from './credentials.ts';
import type { Credential, CredentialReader } from './credentials.ts';

/** TLS towards a store. */
export interface StoreTls {
  /** PEM bundle that the servers' certificates are checked against. */
  readonly ca: string;
  /** The manager's certificate, for a datastore that requires one; tenants never get it. */
  readonly client?: Credential;
  /** The CA whose key is in the DataStore: it signs tenants' certificates, for a datastore that requires them. */
  readonly signer?: Credential;
}

const path = {
  ca: 'spec.tlsConfig.certificateAuthority.certificate',
  caKey: 'spec.tlsConfig.certificateAuthority.privateKey',
  certificate: 'spec.tlsConfig.clientCertificate.certificate',
  key: 'spec.tlsConfig.clientCertificate.privateKey',
} as const;

/**
 * What spec.tlsConfig contains; undefined where there is nothing, and after a validation error. Fields that are not set are a
 * validation error only if all of them are `required`.
 */
export async function readStoreTls(
  reader: CredentialReader,
  tls: DataStoreSpec['tlsConfig'],
  { required = false }: { readonly required?: boolean } = {},
): Promise<StoreTls | undefined> {
  const text = (reference: ContentRef | undefined, field: string): Promise<string | undefined> =>
    reference === undefined && !required ? Promise.resolve(undefined) : reader.text(reference, field);
  const [ca, caKey, certificate, key] = await Promise.all([
    text(tls?.certificateAuthority.certificate, path.ca),
    text(tls?.certificateAuthority.privateKey, path.caKey),
    text(tls?.clientCertificate?.certificate, path.certificate),
    text(tls?.clientCertificate?.privateKey, path.key),
  ]);
  const authorities = reader.certificates(ca, path.ca);
  const signer = reader.signer(authorities, caKey, { certificate: path.ca, key: path.caKey });
  const client = reader.pair(certificate, key, path);
  return authorities && { ca: certificateBundle(authorities), client, signer };
}
