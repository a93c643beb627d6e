import { execFile } from 'node:child_process';
import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { loopbackPair } from './server-certificates.ts';
import { asUser, setpriv } from './server-process.ts';
import type { UnixUser } from './server-process.ts';

const run = promisify(execFile);

/** Whom a standby follows. */
interface Primary {
  readonly port: number;
  readonly ca?: KeyPair;
}

/** Characters that a connection string, a statement and a shell each take for something else. */
export const superuserPassword = `it's "secret" \\ $(x) %41 ;--`;
/** Who may everything. */
export const superuser = 'postgres';

/** Where a server lives. */
export interface PostgresPlace {
  readonly programs: string;
  readonly folder: string;
  readonly data: string;
  readonly user: UnixUser | undefined;
  readonly port: number;
}

async function owned(place: PostgresPlace, name: string, text: string): Promise<string> {
  const path = join(place.folder, name);
  await writeFile(path, text, { mode: 0o600 });
  if (place.user !== undefined) await chown(path, place.user.uid, place.user.gid);
  return path;
}

async function program(
  place: PostgresPlace,
  name: string,
  programArguments: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<void> {
  const command = [...asUser(place.user), join(place.programs, name), ...programArguments];
  await run(setpriv, ['--pdeathsig', 'KILL', ...command], { env: { ...environment, PATH: process.env.PATH } });
}

/** A new server's data, with a superuser who has a password. */
export async function initialize(place: PostgresPlace): Promise<void> {
  const pwfile = await owned(place, 'password', `${superuserPassword}\n`);
  const options = ['--auth=scram-sha-256', `--pwfile=${pwfile}`, `--username=${superuser}`, '--encoding=UTF8'];
  await program(place, 'initdb', [`--pgdata=${place.data}`, ...options, '--locale=C', '--no-sync']);
}

/** A standby's data: those of a primary that runs. */
export async function copyOf(place: PostgresPlace, primary: Primary): Promise<void> {
  const options = ['--host=127.0.0.1', `--port=${primary.port}`, `--username=${superuser}`, '--no-sync'];
  const stream = ['--wal-method=stream', '--checkpoint=fast', '--write-recovery-conf'];
  const pair = primary.ca && (await loopbackPair(primary.ca, superuser));
  await program(place, 'pg_basebackup', [`--pgdata=${place.data}`, ...options, ...stream], {
    PGPASSWORD: superuserPassword,
    ...(pair && {
      PGSSLMODE: 'require',
      PGSSLCERT: await owned(place, 'standby.crt', pair.certificate),
      PGSSLKEY: await owned(place, 'standby.key', pair.key),
    }),
  });
}

/** The server's settings, with the files that they name. `asks`: for a certificate of every client. */
export async function settings(
  place: PostgresPlace,
  ca: KeyPair | undefined,
  asks: boolean,
): Promise<Readonly<Record<string, string>>> {
  const kind = ca === undefined ? 'host' : 'hostssl';
  const certificate = asks ? ' clientcert=verify-ca' : '';
  const rules = ['all', 'replication'].map((what) => `${kind} ${what} all 127.0.0.1/32 scram-sha-256${certificate}\n`);
  const pair = ca && (await loopbackPair(ca, 'postgres'));
  return {
    port: String(place.port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    hba_file: await owned(place, 'pg_hba.conf', rules.join('')),
    max_connections: '200',
    max_prepared_transactions: '4',
    // Nothing here outlives the test, so nothing needs to reach the disk.
    fsync: 'off',
    shared_buffers: '32MB',
    log_statement: 'all',
    ...(ca &&
      pair && {
        ssl: 'on',
        ssl_ca_file: await owned(place, 'ca.crt', ca.certificate),
        ssl_cert_file: await owned(place, 'server.crt', pair.certificate),
        ssl_key_file: await owned(place, 'server.key', pair.key),
      }),
  };
}
