import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, closeSync, openSync } from 'node:fs';
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { ensurePackages } from '../../e2e/tools/debian-packages.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { freePorts } from './free-ports.ts';
import { loopbackPair, serverCa } from './server-certificates.ts';
import { serverFolder } from './server-folder.ts';
import { asUser, nobody, setpriv, startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';

/** What to start. */
export interface MariadbOptions {
  /** Offers TLS. */
  readonly tls?: boolean;
  /** The server's certificate, signed by the CA given; by default for the loopback names and addresses. */
  readonly certificate?: (ca: KeyPair) => Promise<KeyPair>;
  /** Options of mariadbd beside ours, without leading dashes. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A real MariaDB on a port of 127.0.0.1, with an account `root` that may do everything from everywhere. */
export interface MariadbServer extends AsyncDisposable {
  readonly port: number;
  /** Its files. */
  readonly folder: string;
  readonly password: string;
  /** Absent without TLS. */
  readonly ca?: KeyPair;
  /** Runs statements as root. */
  sql(...statements: readonly string[]): Promise<void>;
  /** SIGKILL; the data stay. */
  kill(): Promise<void>;
  /** Starts it again with its data and waits until it serves. */
  restart(): Promise<void>;
}

const program = '/usr/sbin/mariadbd';
/** What `mariadb-install-db` runs, but for its help texts; the script itself is in the package of the clients. */
const scripts = [
  'mysql_system_tables.sql',
  'mysql_performance_tables.sql',
  'mysql_system_tables_data.sql',
  'mysql_sys_schema.sql',
].map((name) => `/usr/share/mysql/${name}`);

/**
 * Installs what `startMariadb` runs, where it is missing: the programs alone, for the package of the server would make a user,
 * a folder and a service. Throws with the remedy when that is not allowed.
 */
export const installMariadb = async (print: (line: string) => void): Promise<void> =>
  ensurePackages(['mariadb-server-core'], print);

/** Small files and no waiting for the disk: nothing here outlives the test. */
const common = (data: string): readonly string[] => [
  '--no-defaults',
  `--datadir=${data}`,
  '--basedir=/usr',
  '--skip-log-bin',
  '--innodb-log-file-size=8M',
  '--innodb-buffer-pool-size=64M',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-flush-method=nosync',
];

const rootAccounts = (password: string): string =>
  [
    'FLUSH PRIVILEGES;',
    "DELETE FROM mysql.proxies_priv WHERE Host != 'localhost';",
    "DELETE FROM mysql.global_priv WHERE User = 'root' AND Host != 'localhost';",
    'FLUSH PRIVILEGES;',
    `ALTER USER root@localhost IDENTIFIED BY '${password}';`,
    `CREATE USER root@'%' IDENTIFIED BY '${password}';`,
    "GRANT ALL PRIVILEGES ON *.* TO root@'%' WITH GRANT OPTION;",
    '',
  ].join('\n');

/** Makes the system tables, as `mariadb-install-db` does. */
const initialize = async (folder: string, data: string, password: string): Promise<void> => {
  const texts = await Promise.all(scripts.map((path) => readFile(path, 'utf8')));
  const input = join(folder, 'initialize.sql');
  const start = 'CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n';
  await writeFile(input, [start, ...texts, rootAccounts(password)].join('\n'), { mode: 0o600 });
  const log = join(folder, 'initialize.log');
  const [stdin, output] = [openSync(input, 'r'), openSync(log, 'a')];
  const command = [...asUser(nobody), program, ...common(data), '--bootstrap', '--log-warnings=0'];
  const child = spawn(setpriv, ['--pdeathsig', 'KILL', ...command], { stdio: [stdin, output, output] });
  const [code] = (await once(child, 'exit')) as [number | null];
  closeSync(stdin);
  closeSync(output);
  if (code !== 0) {
    throw new Error(
      `mariadbd --bootstrap ended with ${code ?? 'a signal'}:\n${(await readFile(log, 'utf8')).slice(-2000)}`,
    );
  }
};

const writeTls = async (
  folder: string,
  certificate: NonNullable<MariadbOptions['certificate']>,
): Promise<{ readonly ca: KeyPair; readonly options: readonly string[] }> => {
  const ca = await serverCa('mysql-ca');
  const server = await certificate(ca);
  const files = { 'ssl-ca': ca.certificate, 'ssl-cert': server.certificate, 'ssl-key': server.key };
  const options = [];
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, `${name}.pem`);
    await writeFile(path, text, { mode: 0o600 });
    if (process.getuid?.() === 0) chownSync(path, nobody.uid, nobody.gid);
    options.push(`--${name}=${path}`);
  }
  return { ca, options };
};

const connect = async (port: number, password: string) =>
  createConnection({ host: '127.0.0.1', port, user: 'root', password, connectTimeout: 5000 });

/**
 * Starts MariaDB, as another user when we are root, and waits until it serves. It dies with this process; disposing kills it and
 * removes its files. Throws with the remedy when Debian's package cannot be had.
 */
export const startMariadb = async (options: MariadbOptions = {}): Promise<MariadbServer> => {
  await installMariadb((line) => void process.stderr.write(`${line}\n`));
  const folder = await serverFolder();
  let server: ServerProcess | undefined;
  const stop = async (): Promise<void> => {
    await server?.kill();
    await folder[Symbol.asyncDispose]();
  };
  try {
    const data = join(folder.path, 'data');
    await mkdir(data, { mode: 0o700 });
    if (process.getuid?.() === 0) for (const path of [folder.path, data]) await chown(path, nobody.uid, nobody.gid);
    const password = 'root-Pw_0';
    await initialize(folder.path, data, password);
    const [port = 0] = await freePorts(1);
    const tls =
      options.tls === true
        ? await writeTls(folder.path, options.certificate ?? ((ca) => loopbackPair(ca, 'mysql')))
        : undefined;
    const programArguments = [
      ...common(data),
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      `--socket=${join(folder.path, 'server.sock')}`,
      '--skip-name-resolve',
      '--max-connections=1000',
      ...(tls?.options ?? []),
      ...Object.entries(options.settings ?? {}).map(([name, value]) => `--${name}=${value}`),
    ];
    const start = async (): Promise<void> => {
      const started = await startServerProcess({
        program,
        programArguments,
        log: join(folder.path, 'server.log'),
        user: nobody,
      });
      server = started;
      await started.until(() => serves(port, password), 60_000);
    };
    await start();
    return {
      port,
      folder: folder.path,
      password,
      ...(tls && { ca: tls.ca }),
      sql: async (...statements) => {
        const root = await connect(port, password);
        try {
          for (const statement of statements) await root.query(statement);
        } finally {
          root.destroy();
        }
      },
      kill: async () => server?.kill(),
      restart: async () => {
        await server?.kill();
        await start();
      },
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Not listening yet is what the caller waits out; anything else it sees in the log. */
const serves = async (port: number, password: string): Promise<boolean> => {
  try {
    (await connect(port, password)).destroy();
    return true;
  } catch {
    return false;
  }
};
