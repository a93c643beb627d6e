import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from '../../e2e/tools/error-code.ts';
import { installPostgres } from '../../e2e/tools/install-postgres.ts';
import { isExecutable } from '../../e2e/tools/tool-cache.ts';
import { toolEnvironment } from '../../e2e/tools/tool-environment.ts';
import type { UnixUser } from './server-process.ts';

const run = promisify(execFile);
const print = (line: string): void => void process.stderr.write(`${line}\n`);

/** Where Debian's packages put the servers, a folder for each major version. */
const debianFolder = '/usr/lib/postgresql';

const needed = ['postgres', 'initdb', 'pg_basebackup'];

async function debianPrograms(): Promise<string | undefined> {
  try {
    const majors = (await readdir(debianFolder)).map(Number).filter((major) => major > 0);
    return majors.length === 0 ? undefined : join(debianFolder, String(Math.max(...majors)), 'bin');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * The folder with PostgreSQL's programs: where they are in PATH, else the newest of Debian's, which is installed (without
 * starting a server) when there is none. Throws with the remedy when it cannot be had.
 */
export async function postgresPrograms(): Promise<string> {
  for (const folder of toolEnvironment().binFolders) {
    const there = await Promise.all(needed.map((name) => isExecutable(join(folder, name))));
    if (!there.includes(false)) return folder;
  }
  const installed = await debianPrograms();
  if (installed !== undefined) return installed;
  await installPostgres(print);
  const folder = await debianPrograms();
  if (folder === undefined) throw new Error(`There is no PostgreSQL below ${debianFolder} after it was installed`);
  return folder;
}

/** Whom PostgreSQL runs as when we are root, which it refuses: Debian's user `postgres`, or nobody where there is none. */
export async function postgresUser(): Promise<UnixUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  try {
    const { stdout } = await run('getent', ['passwd', 'postgres']);
    const [, , uid, gid] = stdout.split(':');
    return { uid: Number(uid), gid: Number(gid) };
  } catch {
    // getent says with a code that there is no such user.
    return { uid: 65_534, gid: 65_534 };
  }
}
