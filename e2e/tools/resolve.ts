import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DownloadError, openDownloads } from './downloads.ts';
import type { Downloads } from './downloads.ts';
import { ensurePackages } from './debian-packages.ts';
import { withFileLock } from './file-lock.ts';
import { goBuild } from './go/go-build.ts';
import { findGo } from './go/go-toolchain.ts';
import { toolPin } from './pins.ts';
import type { Download, ToolPin, WantedReleases } from './pins.ts';
import { printedVersion } from './printed-version.ts';
import { buildRecipe, isExecutable, toolCache } from './tool-cache.ts';
import type { ToolCache } from './tool-cache.ts';
import { toolEnvironment } from './tool-environment.ts';
import type { ToolEnvironment } from './tool-environment.ts';
import { unpack } from './unpack.ts';

/** Told what takes time, one line for a person each. */
export type Progress = (line: string) => void;

/** Options of `resolveTools`. */
export interface ResolveOptions extends WantedReleases {
  readonly progress?: Progress;
  readonly sources?: ToolSources;
}

/** The ways to a binary; tests give their own. */
export interface ToolSources {
  readonly environment: ToolEnvironment;
  readonly downloads: Downloads;
  readonly modules: string;
  readonly printedVersion: (binary: string, pin: ToolPin) => Promise<string | undefined>;
  /** Builds tools of one module into a folder and returns the file of each by name; throws an error with a remedy. */
  readonly build: (pins: readonly ToolPin[], into: string, tell: Progress) => Promise<ReadonlyMap<string, string>>;
}

/** The folder of the pinned modules. */
export const pinnedModules = join(import.meta.dirname, 'modules');

const refusal = (pins: readonly ToolPin[]): Error => {
  const names = pins.map((pin) => `${pin.name} ${pin.source.version}`).join(', ');
  return new Error(
    `${names}: found neither in KUBEBUILDER_ASSETS, PATH nor the cache, cannot be downloaded, and there is no recent go in PATH to build it. ` +
      'Connect to the internet, or install Go 1.26 or newer (https://go.dev/dl), ' +
      'or put binaries of these versions into a folder and name it in KUBEBUILDER_ASSETS.',
  );
};

/** The real ways: this process's environment, the publishers' downloads, and Go. */
export const realToolSources = (environment: ToolEnvironment = toolEnvironment()): ToolSources => {
  const downloads = openDownloads();
  return {
    environment,
    downloads,
    modules: pinnedModules,
    printedVersion,
    async build(pins, into, tell) {
      const go = await findGo(environment, downloads, tell);
      if (go === undefined) throw refusal(pins);
      await ensurePackages(pins[0]?.source.buildPackages ?? [], tell);
      return goBuild(go, pinnedModules, pins, into);
    },
  };
};

const seconds = (since: number): string => `${Math.round((performance.now() - since) / 1000)} s`;

/** One resolution: the cache, the sources and who is told. */
interface Run {
  readonly sources: ToolSources;
  readonly cache: ToolCache;
  readonly tell: Progress;
}

const findInstalled = async ({ sources, cache, tell }: Run, pin: ToolPin): Promise<string | undefined> => {
  for (const folder of pin.versionArguments === undefined ? [] : sources.environment.binFolders) {
    const candidate = join(folder, pin.name);
    if (!(await isExecutable(candidate))) continue;
    const version = await sources.printedVersion(candidate, pin);
    if (version === pin.source.version) return candidate;
    tell(`${candidate} is not used: it says ${version ?? 'no version'}, pinned is ${pin.source.version}`);
  }
  return cache.find(pin);
};

const downloadGroup = async (
  run: Run,
  download: Download,
  pins: readonly ToolPin[],
): Promise<ReadonlyMap<string, string>> => {
  const { sources, cache, tell } = run;
  const found = new Map<string, string>();
  const scratch = await cache.scratch();
  const started = performance.now();
  const names = pins.map((pin) => pin.name).join(', ');
  try {
    const file = join(scratch, basename(new URL(download.url).pathname));
    const sha256 = await sources.downloads.fetch(download, file);
    for (const pin of pins) {
      const member = pin.download?.(sources.environment.platform).member;
      if (member !== undefined) await unpack(file, scratch, [member]);
      const binary = member === undefined ? file : join(scratch, member);
      found.set(pin.name, await cache.install(pin, binary, { downloadedFrom: download.url, sha256 }));
    }
    tell(`downloaded ${names} from ${download.url} … ${seconds(started)}`);
  } catch (error) {
    if (!(error instanceof DownloadError)) throw error;
    if (error.failure === 'checksum') tell(`REFUSED: ${error.message}. Not used.`);
    // Offline, one line per host is enough.
    else if (error.failure !== 'skipped') tell(`no download of ${names}: ${error.message}`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return found;
};

const downloadAll = async (run: Run, pins: readonly ToolPin[]): Promise<ReadonlyMap<string, string>> => {
  const byUrl = new Map<string, { download: Download; pins: ToolPin[] }>();
  for (const pin of pins) {
    const download = pin.download?.(run.sources.environment.platform);
    if (download === undefined) continue;
    const group = byUrl.get(download.url) ?? { download, pins: [] };
    group.pins.push(pin);
    byUrl.set(download.url, group);
  }
  const found = new Map<string, string>();
  for (const group of byUrl.values()) {
    for (const [name, path] of await downloadGroup(run, group.download, group.pins)) found.set(name, path);
  }
  return found;
};

const buildAll = async (
  { sources, cache, tell }: Run,
  pins: readonly ToolPin[],
): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>();
  const [first] = pins;
  if (first === undefined) return found;
  const what = `${pins.map((pin) => pin.name).join(', ')} ${first.source.version} from ${first.source.module ?? first.source.folder}`;
  const started = performance.now();
  tell(`building ${what} …`);
  const heartbeat = setInterval(() => {
    tell(`building ${what} … ${seconds(started)}`);
  }, 20_000);
  const scratch = await cache.scratch();
  try {
    const builtFrom = await buildRecipe(first.source, sources.modules);
    const files = await sources.build(pins, scratch, tell);
    for (const pin of pins) {
      const file = files.get(pin.name);
      if (file === undefined) throw new Error(`The build of ${pin.source.folder} made no ${pin.name}`);
      found.set(pin.name, await cache.install(pin, file, { builtFrom }));
    }
    tell(`built ${what} … ${seconds(started)}`);
    return found;
  } finally {
    clearInterval(heartbeat);
    await rm(scratch, { recursive: true, force: true });
  }
};

const obtain = async (run: Run, pins: readonly ToolPin[], paths: Map<string, string>): Promise<void> => {
  const take = (found: ReadonlyMap<string, string>): void => {
    for (const [name, path] of found) paths.set(name, path);
  };
  const missing = (): readonly ToolPin[] => pins.filter((pin) => !paths.has(pin.name));
  // Another process may have finished them while this one waited for the lock.
  for (const pin of pins) {
    const path = await run.cache.find(pin);
    if (path !== undefined) paths.set(pin.name, path);
  }
  take(await downloadAll(run, missing()));
  take(await buildAll(run, missing()));
};

/** Those of the tools that neither KUBEBUILDER_ASSETS nor PATH nor the cache has: they would be downloaded or built. */
export const missingTools = async (
  names: readonly string[],
  options: ResolveOptions = {},
): Promise<readonly string[]> => {
  const sources = options.sources ?? realToolSources();
  const cache = toolCache(sources.environment.cacheFolder, sources.modules, sources.environment.platform);
  const run: Run = { sources, cache, tell: options.progress ?? (() => undefined) };
  const missing: string[] = [];
  try {
    for (const pin of names.map((name) => toolPin(name, options)))
      if ((await findInstalled(run, pin)) === undefined) missing.push(`${pin.name} ${pin.source.version}`);
  } finally {
    if (options.sources === undefined) await sources.downloads[Symbol.asyncDispose]();
  }
  return missing;
};

/**
 * Absolute paths of pinned binaries, by name. Each is taken from the first of: `KUBEBUILDER_ASSETS`, `PATH` (both only if the
 * binary prints the pinned version), the cache, the publisher's download (verified by SHA-256), a build from pinned Go modules.
 * Two processes never make the same tool at the same time. Throws an error with the remedy when a tool cannot be had.
 */
export const resolveTools = async <Name extends string>(
  names: readonly Name[],
  options: ResolveOptions = {},
): Promise<Readonly<Record<Name, string>>> => {
  const sources = options.sources ?? realToolSources();
  const tell = options.progress ?? (() => undefined);
  const cache = toolCache(sources.environment.cacheFolder, sources.modules, sources.environment.platform);
  const run: Run = { sources, cache, tell };
  const paths = new Map<string, string>();
  const missing = new Map<string, ToolPin[]>();
  try {
    for (const pin of [...new Set(names)].map((name) => toolPin(name, options))) {
      const path = await findInstalled(run, pin);
      if (path === undefined) missing.set(pin.source.folder, [...(missing.get(pin.source.folder) ?? []), pin]);
      else paths.set(pin.name, path);
    }
    for (const [folder, pins] of missing) {
      const lock = join(cache.folder, 'locks', folder);
      await withFileLock(
        lock,
        () => obtain(run, pins, paths),
        (pid) => {
          tell(`waiting for process ${pid}, which makes ${folder}`);
        },
      );
    }
  } finally {
    if (options.sources === undefined) await sources.downloads[Symbol.asyncDispose]();
  }
  return Object.fromEntries(paths) as Record<Name, string>;
};
