import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { freePorts } from './free-ports.ts';
import { copyOf, initialize, settings, superuser, superuserPassword } from './postgres-place.ts';
import { postgresPrograms, postgresUser } from './postgres-programs.ts';
import { loopbackPair, serverCa } from './server-certificates.ts';
import { serverFolder } from './server-folder.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';

/** What to start. */
export interface PostgresOptions {
  /** Serves TLS only. */
  readonly tls?: boolean;
  /** Also requires a certificate of its CA from every client. */
  readonly clientCertificates?: boolean;
  /** A standby of this server: it takes no writes until it is promoted. With that server's password and CA. */
  readonly standbyOf?: PostgresServer;
  /** Settings that win over ours. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A real PostgreSQL on a port of 127.0.0.1, which requires passwords (SCRAM). */
export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  /** Its files. */
  readonly folder: string;
  /** The superuser. */
  readonly user: string;
  readonly password: string;
  /** Absent without TLS. */
  readonly ca?: KeyPair;
  /** Runs one statement as the superuser and returns its rows. */
  sql(statement: string, database?: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Makes a standby take writes, and waits until it does. */
  promote(): Promise<void>;
  /** SIGKILL; the data stay. */
  kill(): Promise<void>;
  /** Starts it again with its data and waits until it serves. */
  restart(): Promise<void>;
  /** All that the server has logged. */
  readonly log: string;
}

/**
 * Starts PostgreSQL, as another user when we are root, and waits until it serves. It dies with this process; disposing kills it and
 * removes its files. Throws with the remedy when no PostgreSQL can be had.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = await serverFolder();
  let server: ServerProcess | undefined;
  const stop = async (): Promise<void> => {
    await quit(server);
    await folder[Symbol.asyncDispose]();
  };
  try {
    const [port = 0] = await freePorts(1);
    const user = await postgresUser();
    const data = join(folder.path, 'data');
    const place = { programs: await postgresPrograms(), folder: folder.path, data, user, port };
    if (user !== undefined) await chown(folder.path, user.uid, user.gid);
    const { standbyOf } = options;
    const own = options.tls === true ? await serverCa('postgres-ca') : undefined;
    const ca = standbyOf === undefined ? own : standbyOf.ca;
    await (standbyOf === undefined ? initialize(place) : copyOf(place, standbyOf));
    const values = { ...(await settings(place, ca, options.clientCertificates ?? false)), ...options.settings };
    const log = join(folder.path, 'postgres.log');
    const ssl = ca === undefined ? false : await trusting(ca);
    const sql: PostgresServer['sql'] = async (statement, database = 'postgres') => {
      const login = { host: '127.0.0.1', port, user: superuser, password: superuserPassword, database };
      const client = new Client({ ...login, ssl });
      try {
        await client.connect();
        return (await client.query<Record<string, unknown>>(statement)).rows;
      } finally {
        await client.end();
      }
    };
    const start = async (): Promise<void> => {
      const flags = Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const programArguments = ['-D', data, ...flags];
      const started = await startServerProcess({
        program: join(place.programs, 'postgres'),
        programArguments,
        log,
        user,
      });
      server = started;
      await started.until(() => succeeds(() => sql('SELECT 1')), 60_000);
    };
    await start();
    return {
      port,
      folder: folder.path,
      user: superuser,
      password: superuserPassword,
      ca,
      sql,
      promote: async () => {
        await sql('SELECT pg_promote(wait => true)');
      },
      kill: async () => server?.kill(),
      restart: async () => {
        await server?.kill();
        await start();
      },
      log,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** PostgreSQL's immediate shutdown: it leaves no shared memory behind, as it does when it is killed. */
async function quit(server: ServerProcess | undefined): Promise<void> {
  const running = (): boolean => server?.running === true;
  if (server === undefined || !running()) return;
  process.kill(server.pid, 'SIGQUIT');
  const end = performance.now() + 5000;
  while (running() && performance.now() < end) await delay(10);
  await server.kill();
}

/** The superuser's own certificate is valid for every server here, whether it is required or not. */
async function trusting(ca: KeyPair): Promise<{ readonly ca: string; readonly cert: string; readonly key: string }> {
  const { certificate, key } = await loopbackPair(ca, superuser);
  return { ca: ca.certificate, cert: certificate, key };
}

async function succeeds(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch {
    // Not serving yet is what the caller waits out.
    return false;
  }
}
