import type { ServerState } from '../driver.ts';
import { StoreError } from '../store-error.ts';
import type { PostgresClient } from './client.ts';
import { noteOf } from './errors.ts';
import { isSupportedPostgres, postgresFloor } from './version.ts';

/** The state of the server and our privileges. Throws `StoreError` Unauthorized when these do not suffice. */
export async function readServerState(client: PostgresClient): Promise<ServerState> {
  const [row] = await client.query(
    'report its version and the privileges of the manager',
    `SELECT current_setting('server_version') AS version, rolsuper OR (rolcreatedb AND rolcreaterole) AS enough
     FROM pg_roles WHERE rolname = current_user`,
  );
  if (row?.enough !== true) {
    const help = 'make it a superuser, or grant it CREATEDB and CREATEROLE';
    throw new StoreError('Unauthorized', `${client.config.username} may not create databases and roles: ${help}`);
  }
  // Debian appends the version of its package.
  const version = String(row.version).split(' ')[0] ?? '';
  const [size, failures, lack] = await Promise.all([sizeOf(client), client.failures(), lackOf(client)]);
  const notes = [...failures.map(noteOf), ...lack];
  return {
    version,
    supported: isSupportedPostgres(version),
    floor: postgresFloor,
    sizeBytes: size,
    ...(notes.length > 0 && { notes }),
  };
}

/** A note when tenants lack a certificate that the server requires: the manager's own is never passed on. */
async function lackOf(client: PostgresClient): Promise<readonly string[]> {
  const { tls } = client.config;
  if (tls?.client === undefined || tls.signer !== undefined) return [];
  if (await client.admitsWithoutCertificate()) return [];
  const help = 'set spec.tlsConfig.certificateAuthority.privateKey, with which each tenant gets its own';
  return [`the server requires client certificates, and tenants have none: ${help}`];
}

/** Bytes of all databases that we may query; undefined when one is dropped at this moment, or when counting takes too long. */
async function sizeOf(client: PostgresClient): Promise<number | undefined> {
  try {
    const [sum] = await client.query(
      'report its size',
      `SELECT sum(pg_database_size(oid))::float8 AS bytes FROM pg_database WHERE has_database_privilege(oid, 'CONNECT')`,
    );
    return typeof sum?.bytes === 'number' ? sum.bytes : undefined;
  } catch (error) {
    // The size is not essential, so a failure does not make the datastore unusable.
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}
