import { createHash } from 'node:crypto';
import type { DataStore } from '../api/steward/v1alpha1/data-store.ts';
import { certificateBundle, CredentialReader } from './credentials.ts';
import type { Credential } from './credentials.ts';
import type { ReadSecret } from './driver.ts';
import { parseEndpoint } from './endpoint.ts';
import type { Endpoint } from './endpoint.ts';
import { StoreError } from './store-error.ts';

/** The configuration of a datastore with user and password. Never logged. */
export interface LoginConfig {
  /** In the DataStore's order; `name` as it is written there. */
  readonly endpoints: readonly (Endpoint & { readonly name: string })[];
  readonly username: string;
  readonly password: string;
  /** Absent when the connection is not encrypted. */
  readonly tls?: StoreTls;
}

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
  username: 'spec.basicAuth.username',
  password: 'spec.basicAuth.password',
  ca: 'spec.tlsConfig.certificateAuthority.certificate',
  caKey: 'spec.tlsConfig.certificateAuthority.privateKey',
  certificate: 'spec.tlsConfig.clientCertificate.certificate',
  key: 'spec.tlsConfig.clientCertificate.privateKey',
} as const;

/**
 * Resolves and checks what the DataStore says. Throws `StoreError` (CredentialsMissing, CredentialsInvalid) that names every
 * field that is missing or broken.
 */
export async function readLoginConfig(store: DataStore, read: ReadSecret): Promise<LoginConfig> {
  const { basicAuth, tlsConfig, endpoints } = store.spec;
  const reader = new CredentialReader(read);
  const client = tlsConfig?.clientCertificate;
  const authority = tlsConfig?.certificateAuthority;
  const [username, password, ca, caKey, certificate, key] = await Promise.all([
    reader.word(basicAuth?.username, path.username),
    reader.word(basicAuth?.password, path.password),
    authority === undefined ? undefined : reader.text(authority.certificate, path.ca),
    authority?.privateKey === undefined ? undefined : reader.text(authority.privateKey, path.caKey),
    client === undefined ? undefined : reader.text(client.certificate, path.certificate),
    client === undefined ? undefined : reader.text(client.privateKey, path.key),
  ]);
  const parsed = endpoints.flatMap((name, index) => {
    const endpoint = parseEndpoint(name);
    if (typeof endpoint !== 'string') return [{ name, ...endpoint }];
    reader.broken(`spec.endpoints[${index}] ${JSON.stringify(name)} ${endpoint}`);
    return [];
  });
  const authorities = reader.certificates(ca, path.ca);
  const pair = reader.pair(certificate, key, path);
  const signer = reader.signer(authorities, caKey, { certificate: path.ca, key: path.caKey });
  reader.finish();
  if (username === undefined || password === undefined) {
    throw new StoreError('CredentialsMissing', `${path.username} and ${path.password} must be set`);
  }
  const tls = authorities && {
    ca: certificateBundle(authorities),
    ...(pair && { client: pair }),
    ...(signer && { signer }),
  };
  return { endpoints: parsed, username, password, ...(tls && { tls }) };
}

/** SHA-256, in hex, over everything in the config. */
export function loginChecksum({ endpoints, username, password, tls }: LoginConfig): string {
  const names = endpoints.map(({ name }) => name);
  const pairs = [tls?.client, tls?.signer].map((pair) => [pair?.certificate, pair?.key]);
  const parts = [names, username, password, tls?.ca, ...pairs];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
