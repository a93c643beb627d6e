import { createHash } from 'node:crypto';
import type { DataStore } from '../api/steward/v1alpha1/data-store.ts';
import { CredentialReader } from './credentials.ts';
import type { ReadSecret } from './driver.ts';
import type { NamedEndpoint } from './endpoint.ts';
import { StoreError } from './store-error.ts';
import { readStoreTls } from './store-tls.ts';
import type { StoreTls } from './store-tls.ts';

/** The configuration of a datastore with user and password. Never logged. */
export interface LoginConfig {
  /** In the DataStore's order. */
  readonly endpoints: readonly NamedEndpoint[];
  readonly username: string;
  readonly password: string;
  /** Absent when the connection is not encrypted. */
  readonly tls?: StoreTls;
}

const path = {
  username: 'spec.basicAuth.username',
  password: 'spec.basicAuth.password',
} as const;

/**
 * Resolves and checks what the DataStore says. Throws `StoreError` (CredentialsMissing, CredentialsInvalid) that names every
 * field that is missing or broken.
 */
export async function readLoginConfig(store: DataStore, read: ReadSecret): Promise<LoginConfig> {
  const { basicAuth, tlsConfig } = store.spec;
  const reader = new CredentialReader(read);
  const endpoints = reader.endpoints(store.spec.endpoints);
  const [username, password, tls] = await Promise.all([
    reader.word(basicAuth?.username, path.username),
    reader.word(basicAuth?.password, path.password),
    readStoreTls(reader, tlsConfig),
  ]);
  reader.finish();
  if (username === undefined || password === undefined) {
    throw new StoreError('CredentialsMissing', `${path.username} and ${path.password} must be set`);
  }
  return { endpoints, username, password, tls };
}

/** SHA-256, in hex, over everything in the config. */
export function loginChecksum({ endpoints, username, password, tls }: LoginConfig): string {
  const names = endpoints.map(({ name }) => name);
  const pairs = [tls?.client, tls?.signer].map((pair) => [pair?.certificate, pair?.key]);
  const parts = [names, username, password, tls?.ca, ...pairs];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
