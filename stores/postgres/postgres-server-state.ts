import type { ServerState } from '../driver.ts';
import { StoreError } from '../store-error.ts';
import type { PostgresClient } from './postgres-client.ts';
import { noteOf } from './postgres-errors.ts';
import { isSupportedPostgres, postgresFloor } from './postgres-version.ts';

/** What the server says of itself and of us. Throws `StoreError` Unauthorized when it does not let us administer it. */
export async function readServerState(client: PostgresClient): Promise<ServerState> {
  const [said] = await client.query(
    'tell its version and our rights',
    `SELECT current_setting('server_version') AS version, rolsuper OR (rolcreatedb AND rolcreaterole) AS enough
     FROM pg_roles WHERE rolname = current_user`,
  );
  if (said?.enough !== true) {
    const help = 'make it a superuser, or give it CREATEDB and CREATEROLE';
    throw new StoreError('Unauthorized', `${client.config.username} may not make databases and roles: ${help}`);
  }
  // Debian appends the version of its package.
  const version = String(said.version).split(' ')[0] ?? '';
  const [size, failures, lack] = await Promise.all([sizeOf(client), client.failures(), lackOf(client)]);
  const notes = [...failures.map(noteOf), ...lack];
  return {
    version,
    supported: isSupportedPostgres(version),
    floor: postgresFloor,
    ...(size !== undefined && { sizeBytes: size }),
    ...(notes.length > 0 && { notes }),
  };
}

/** Whether tenants lack a certificate that the server asks for: the operator's own is never passed on. */
async function lackOf(client: PostgresClient): Promise<readonly string[]> {
  const { tls } = client.config;
  if (tls?.client === undefined || tls.signer !== undefined) return [];
  if (await client.admitsWithoutCertificate()) return [];
  const help = 'give spec.tlsConfig.certificateAuthority.privateKey, with which each tenant gets its own';
  return [`the server asks for client certificates, and tenants have none: ${help}`];
}

/** Bytes of all databases that we may ask for; undefined when one is dropped at this moment, or when counting takes long. */
async function sizeOf(client: PostgresClient): Promise<number | undefined> {
  try {
    const [sum] = await client.query(
      'tell its size',
      `SELECT sum(pg_database_size(oid))::float8 AS bytes FROM pg_database WHERE has_database_privilege(oid, 'CONNECT')`,
    );
    return typeof sum?.bytes === 'number' ? sum.bytes : undefined;
  } catch (error) {
    // What it holds is good to know, and no reason to call it out of order.
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}
