import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { baseEntries, fileEntry, filesBelow } from './image-contents.ts';
import { libraryFiles } from './library-files.ts';
import type { ImageDescription } from './oci-archive.ts';
import type { TarEntry } from './tar-writer.ts';

type Names = ImageDescription['names'];
type Architecture = ImageDescription['architecture'];

/** Debian's packages that a MariaDB image is made of. */
export const mariadbPackages = ['mariadb-server-core', 'mariadb-client-core'] as const;

const entrypoint = '/usr/local/bin/docker-entrypoint.sh';

/** The shell and the one program that the entrypoints call. */
const shell: readonly TarEntry[] = [
  fileEntry('/bin/dash', '/bin/sh'),
  fileEntry('/bin/cat'),
  { kind: 'text', path: 'etc/nsswitch.conf', text: 'passwd: files\ngroup: files\nhosts: files dns\n' },
];

/** The user that the public images of databases have. */
const userEntries = (name: string, home: string): readonly TarEntry[] => [
  {
    kind: 'text',
    path: 'etc/passwd',
    text: `root:x:0:0:root:/root:/sbin/nologin\n${name}:x:999:999:${name}:${home}:/bin/sh\n`,
  },
  { kind: 'text', path: 'etc/group', text: `root:x:0:\n${name}:x:999:\n` },
];

const libraries = async (...binaries: readonly string[]): Promise<readonly TarEntry[]> =>
  (await libraryFiles('/bin/dash', '/bin/cat', ...binaries)).map((path) => fileEntry(path));

/** The newest PostgreSQL of this machine. */
const postgresFolder = async (): Promise<string> => {
  const root = '/usr/lib/postgresql';
  const majors = (await readdir(root)).filter((name) => /^\d+$/.test(name)).toSorted((a, b) => Number(b) - Number(a));
  if (majors[0] === undefined) throw new Error(`There is no PostgreSQL below ${root}: apt-get install postgresql`);
  return join(root, majors[0]);
};

/**
 * PostgreSQL of Debian's packages, behaving like the public image as far as e2e/tools/entrypoints/postgres.sh says. Without the JIT
 * compiler, whose libraries would be most of it, and with UTC as only time zone. Linux with the packages only.
 */
export const postgresImage = async (names: Names, architecture: Architecture): Promise<ImageDescription> => {
  const folder = await postgresFolder();
  const share = join('/usr/share/postgresql', basename(folder));
  const programs = ['postgres', 'initdb', 'pg_isready', 'psql'].map((name) => join(folder, 'bin', name));
  const modules = (await readdir(join(folder, 'lib')))
    .filter((name) => name.endsWith('.so') && !name.startsWith('llvm'))
    .map((name) => join(folder, 'lib', name));
  return {
    names,
    architecture,
    entrypoint: [basename(entrypoint)],
    command: ['postgres'],
    environment: {
      PATH: `/usr/local/bin:/usr/bin:/bin:${join(folder, 'bin')}`,
      PGDATA: '/var/lib/postgresql/data',
      LANG: 'C.UTF-8',
    },
    // What PostgreSQL calls a fast shutdown; at SIGTERM it would wait for every client to leave.
    stopSignal: 'SIGINT',
    layers: [
      [
        ...baseEntries,
        ...shell,
        ...userEntries('postgres', '/var/lib/postgresql'),
        fileEntry(join(import.meta.dirname, 'entrypoints', 'postgres.sh'), entrypoint),
        ...[...programs, ...modules].map((path) => fileEntry(path)),
        ...(await libraries(...programs, ...modules)),
        ...(await filesBelow(share, share, (path) => !path.startsWith(join(share, 'man')))),
        ...(await filesBelow('/usr/lib/locale/C.utf8')),
        ...['UTC', 'GMT', 'Etc/UTC'].map((zone) => fileEntry(join('/usr/share/zoneinfo', zone))),
        { kind: 'folder', path: 'var/lib/postgresql', mode: 0o777 },
        { kind: 'folder', path: 'run/postgresql', mode: 0o777 },
      ],
    ],
  };
};

/**
 * MariaDB of Debian's packages, behaving like the public image as far as e2e/tools/entrypoints/mariadb.sh says.
 * Linux with the packages only.
 */
export const mariadbImage = async (names: Names, architecture: Architecture): Promise<ImageDescription> => {
  const share = '/usr/share/mysql';
  const programs = ['/usr/sbin/mariadbd', '/usr/bin/mariadb'];
  const needed = /\.sql$|\/charsets\/|\/english\//;
  return {
    names,
    architecture,
    entrypoint: [basename(entrypoint)],
    command: ['mariadbd'],
    environment: { LANG: 'C.UTF-8' },
    layers: [
      [
        ...baseEntries,
        ...shell,
        ...userEntries('mysql', '/var/lib/mysql'),
        fileEntry(join(import.meta.dirname, 'entrypoints', 'mariadb.sh'), entrypoint),
        ...programs.map((path) => fileEntry(path)),
        ...(await libraries(...programs)),
        ...(await filesBelow(share, share, (path) => needed.test(path))),
        { kind: 'text', path: 'etc/mysql/my.cnf', text: '!includedir /etc/mysql/conf.d/\n' },
        { kind: 'folder', path: 'etc/mysql/conf.d' },
        { kind: 'folder', path: 'var/lib/mysql', mode: 0o777 },
        { kind: 'folder', path: 'run/mysqld', mode: 0o777 },
      ],
    ],
  };
};
