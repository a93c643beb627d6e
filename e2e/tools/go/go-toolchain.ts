import { execFile } from 'node:child_process';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { DownloadError } from '../downloads.ts';
import type { Downloads } from '../downloads.ts';
import { errorReason } from '../error-reason.ts';
import type { Go } from './run-go.ts';
import { isExecutable } from '../tool-cache.ts';
import type { ToolEnvironment } from '../tool-environment.ts';
import { unpack } from '../unpack.ts';

const run = promisify(execFile);

/** The Go release that is downloaded when there is none in `PATH`. */
export const goRelease = 'go1.26.8';

/** False for releases before Go 1.21: those can neither read our go.mod files nor fetch a newer toolchain by themselves. */
export const isRecentGo = (output: string): boolean => {
  const [, major = '0', minor = '0'] = /go version (?:devel )?go(\d+)\.(\d+)/.exec(output) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
};

const goInPath = async (environment: ToolEnvironment, log: (line: string) => void): Promise<Go | undefined> => {
  for (const folder of environment.binFolders) {
    const program = join(folder, 'go');
    if (!(await isExecutable(program))) continue;
    const { stdout } = await run(program, ['version'], { env: environment.variables });
    if (isRecentGo(stdout)) return { program, environment: environment.variables };
    log(`${program} is not used: it is ${stdout.trim()}, and 1.21 is the oldest that can fetch a newer toolchain`);
  }
  return undefined;
};

/**
 * The `go` of `PATH`, or one in the cache, or a downloaded one, in this order; `GOTOOLCHAIN` is left alone.
 * Undefined when there is none and none can be downloaded; `log` is then told why.
 */
export const findGo = async (
  environment: ToolEnvironment,
  downloads: Downloads,
  log: (line: string) => void,
): Promise<Go | undefined> => {
  const installed = await goInPath(environment, log);
  if (installed !== undefined) return installed;
  const { os, arch } = environment.platform;
  const home = join(environment.cacheFolder, 'go', goRelease, `${os}-${arch}`);
  const go: Go = { program: join(home, 'bin', 'go'), environment: environment.variables };
  if (await isExecutable(go.program)) return go;
  const scratch = `${home}.${process.pid}`;
  const url = `https://dl.google.com/go/${goRelease}.${os}-${arch}.tar.gz`;
  try {
    await mkdir(scratch, { recursive: true });
    log(`downloading ${goRelease}, because there is no go in PATH`);
    await downloads.fetch({ url, checksumUrl: `${url}.sha256` }, join(scratch, 'go.tar.gz'));
    await unpack(join(scratch, 'go.tar.gz'), scratch);
    await mkdir(dirname(home), { recursive: true });
    await rename(join(scratch, 'go'), home);
    return go;
  } catch (error) {
    log(`no download of ${goRelease}: ${error instanceof DownloadError ? error.message : errorReason(error)}`);
    return undefined;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};
