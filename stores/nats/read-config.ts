import { numberOf } from '../../api/quantity.ts';
import type { DataStore, DataStoreSpec } from '../../api/steward/v1alpha1/data-store.ts';
import { CredentialReader } from '../credentials.ts';
import type { ReadSecret } from '../driver.ts';
import { StoreError } from '../store-error.ts';
import { readStoreTls } from '../store-tls.ts';
import { credentialsProblem } from './credentials-file.ts';
import type { AccountAccess, LoginAccess, NatsConfig } from './config.ts';
import { nkeyOfSeed } from './nkey.ts';

const path = {
  username: 'spec.basicAuth.username',
  password: 'spec.basicAuth.password',
  operatorKey: 'spec.nats.operatorKey',
  systemCredentials: 'spec.nats.systemCredentials',
  storage: 'spec.nats.storagePerTenant',
} as const;

/** Less does not hold an empty control plane with its history. */
const leastStorage = 64 * 1024 * 1024;

/**
 * Resolves and checks what the DataStore says. Throws `StoreError` (CredentialsMissing, CredentialsInvalid) that names every
 * field that is missing or broken.
 */
export async function readNatsConfig(store: DataStore, read: ReadSecret): Promise<NatsConfig> {
  const { spec } = store;
  const reader = new CredentialReader(read);
  const [tls, access] = await Promise.all([
    readStoreTls(reader, spec.tlsConfig),
    spec.nats === undefined ? readLogin(reader, spec) : readAccounts(reader, spec.nats),
  ]);
  reader.endpoints(spec.endpoints);
  reader.finish();
  if (access === undefined) {
    throw new StoreError('CredentialsInvalid', `the credentials of DataStore ${store.metadata.name} are incomplete`);
  }
  return { endpoints: spec.endpoints, tls, access };
}

/** Without basicAuth the client certificate is all that a server learns. */
async function readLogin(reader: CredentialReader, { basicAuth }: DataStoreSpec): Promise<LoginAccess | undefined> {
  if (basicAuth === undefined) return { mode: 'login' };
  const [user, password] = await Promise.all([
    reader.word(basicAuth.username, path.username),
    reader.word(basicAuth.password, path.password),
  ]);
  return user === undefined || password === undefined ? undefined : { mode: 'login', user, password };
}

async function readAccounts(
  reader: CredentialReader,
  nats: NonNullable<DataStoreSpec['nats']>,
): Promise<AccountAccess | undefined> {
  const [operatorSeed, systemCredentials] = await Promise.all([
    reader.word(nats.operatorKey, path.operatorKey),
    reader.text(nats.systemCredentials, path.systemCredentials),
  ]);
  if (operatorSeed !== undefined && nkeyOfSeed('operator', operatorSeed) === undefined) {
    reader.broken(`${path.operatorKey} is not the seed of an operator: use the line that begins with SO`);
  }
  const problem = systemCredentials === undefined ? undefined : credentialsProblem(systemCredentials);
  if (problem !== undefined)
    reader.broken(`${path.systemCredentials} ${problem}: use the .creds file of a system user`);
  const bytesPerTenant = Math.floor(numberOf(nats.storagePerTenant) ?? 0);
  if (bytesPerTenant < leastStorage) {
    reader.broken(`${path.storage} ${JSON.stringify(nats.storagePerTenant)} is too small: use 64Mi or more`);
  }
  if (operatorSeed === undefined || systemCredentials === undefined) return undefined;
  return { mode: 'accounts', operatorSeed, systemCredentials, replicas: nats.replicas, bytesPerTenant };
}
