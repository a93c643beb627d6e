import { readFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { AssetSource } from '../../sources/asset-source.ts';
import { BadReleaseError, ReleaseNotFoundError, SourceUnavailableError } from '../../sources/asset-errors.ts';
import { HelmRenderer } from '../../helm/helm-renderer.ts';
import { RenderError } from '../../sources/render-error.ts';
import { describeFlags, readFlags, UsageError } from '../../../cmd/flags/flags.ts';
import type { FlagValues, Flags } from '../../../cmd/flags/flags.ts';
import { buildRelease } from './build-release.ts';
import { customVersions, hashVersions, newestStable, stableVersions } from './choose-versions.ts';
import type { Finding } from './finding.ts';
import { readRelease } from './known-release.ts';
import type { KnownRelease } from './known-release.ts';
import { lintRelease } from './lint-release.ts';
import { lintSource } from './lint-source.ts';
import { pushRelease } from './push-release.ts';
import type { PushTarget } from './push-release.ts';
import { changesBetween, layersOf } from './release-layers.ts';
import type { Change } from './release-layers.ts';
import { folderShelf, sourceShelf } from './release-shelf.ts';
import type { ReleaseShelf } from './release-shelf.ts';
import { saveRelease } from './save-release.ts';
import { readFolder, readSource } from './source-tree.ts';
import type { SourceTree } from './source-tree.ts';
import { StackError } from './stack-error.ts';
import { buildFlags, diffFlags, lintFlags, pushFlags } from './stack-flags.ts';
import type { ReleaseVersions } from './stamp.ts';

/** How a repository of a registry is reached. */
export interface RepositoryAccess {
  readonly repository: string;
  readonly plainHttp: boolean;
  readonly certificateAuthority?: string;
  readonly credentials?: { readonly username: string; readonly password: string } | { readonly token: string };
}

/** What `steward stack` meets outside of itself. */
export interface StackWorld {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  readonly open: (access: RepositoryAccess) => { readonly source: AssetSource; readonly target: PushTarget };
}

interface Command {
  readonly takes: string;
  readonly does: string;
  readonly flags: Flags;
  readonly run: (folder: string, args: readonly string[], world: StackWorld) => Promise<number>;
}

const commands: Readonly<Record<string, Command>> = {
  build: { takes: 'the folder of a stack', does: 'builds a release from it', flags: buildFlags, run: runBuild },
  push: {
    takes: 'the folder of a release',
    does: 'pushes it to an OCI repository, under its name',
    flags: pushFlags,
    run: runPush,
  },
  diff: {
    takes: 'the folder of a stack',
    does: 'shows what differs from a release, layer by layer',
    flags: diffFlags,
    run: runDiff,
  },
  lint: {
    takes: 'the folder of a stack, or of a release',
    does: 'reports what must be fixed before it is released',
    flags: lintFlags,
    run: runLint,
  },
};

/** What `steward stack --help` prints. */
export const stackUsage = `steward stack: releases of cluster stacks

Usage: steward stack <command> <folder> [flags]

${Object.entries(commands)
  .map(([name, { takes, does }]) => `  ${name.padEnd(6)} takes ${takes}; ${does}`)
  .join('\n')}

Exit codes: 0 done, no difference, or no findings; 1 refused, a difference, or a finding; 2 an invalid command line.

${Object.entries(commands)
  .map(([name, { flags }]) => `Flags of stack ${name}:\n${describeFlags(flags)}`)
  .join('\n\n')}`;

/**
 * `steward stack`: builds, pushes, compares and checks releases of cluster stacks. Returns the exit code.
 * @throws UsageError for invalid arguments.
 */
export async function runStack(args: readonly string[], world: StackWorld): Promise<number> {
  const [name = '', folder = '', ...rest] = args;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    throw new UsageError(
      `stack ${name}: choose one of ${Object.keys(commands).join(', ')}; steward stack --help describes them`,
    );
  }
  if (folder === '' || folder.startsWith('-')) {
    throw new UsageError(`stack ${name} needs ${command.takes} first: steward stack ${name} <folder> [--name=value]`);
  }
  try {
    return await command.run(folder, rest, world);
  } catch (error) {
    if (!isForPeople(error)) throw error;
    world.print(`steward stack ${name}: ${error.message}`);
    return 1;
  }
}

const forPeople = [StackError, BadReleaseError, ReleaseNotFoundError, SourceUnavailableError, RenderError, RangeError];

const isForPeople = (error: unknown): error is Error => forPeople.some((kind) => error instanceof kind);

async function runBuild(folder: string, args: readonly string[], world: StackWorld): Promise<number> {
  const flags = readFlags(buildFlags, args);
  const source = await sourceIn(folder, flags.kubernetes);
  const versions = await withShelf(flags, world, (shelf) => versionsFor(source, flags, shelf, world.signal));
  const release = buildRelease(source, versions);
  const saved = await saveRelease(release, flags.output);
  world.print(
    `${release.name}: Kubernetes ${release.kubernetes}, stack ${versions.clusterStack}, add-ons ${versions.clusterAddon}`,
  );
  world.print(saved);
  return 0;
}

async function versionsFor(
  source: SourceTree,
  flags: FlagValues<typeof buildFlags>,
  shelf: ReleaseShelf,
  signal: AbortSignal,
): Promise<ReleaseVersions> {
  const custom = {
    clusterStack: flags['cluster-stack-version'],
    clusterAddon: flags['cluster-addon-version'],
    nodeImage: flags['node-image-version'],
  };
  if (flags.mode !== 'custom' && Object.values(custom).some((version) => version !== '')) {
    throw new UsageError(`versions can only be set with --mode=custom, but the mode is ${flags.mode}`);
  }
  switch (flags.mode) {
    case 'custom':
      return customVersions(custom);
    case 'hash':
      return hashVersions(source);
    case 'stable':
      return stableVersions(source, await newestBefore(shelf, source.prefix, signal));
    default:
      throw new UsageError(`--mode takes stable, hash or custom, got "${flags.mode}"`);
  }
}

async function newestBefore(
  shelf: ReleaseShelf,
  prefix: string,
  signal: AbortSignal,
): Promise<KnownRelease | undefined> {
  try {
    return await newestOn(shelf, prefix, signal);
  } catch (error) {
    if (!(error instanceof SourceUnavailableError)) throw error;
    // Registries do not distinguish an absent repository from one that has no releases yet.
    throw new StackError(
      `${error.message}; build the first release of a repository with --mode=custom --cluster-stack-version=v1`,
    );
  }
}

async function runPush(folder: string, args: readonly string[], world: StackWorld): Promise<number> {
  const flags = readFlags(pushFlags, args);
  const access = await accessOf(flags, world);
  if (access === undefined) throw new UsageError('expecting a value for --repository arg, or $OCI_REPOSITORY');
  const release = readRelease(await readFolder(folder), folder);
  const { target } = world.open(access);
  const pushed = await pushRelease(release, target, { createdAt: createdAt(world), signal: world.signal });
  world.print(`${pushed.reference} ${pushed.digest}${pushed.wasThere ? ' (already existed)' : ''}`);
  return 0;
}

async function runDiff(folder: string, args: readonly string[], world: StackWorld): Promise<number> {
  const flags = readFlags(diffFlags, args);
  const source = await sourceIn(folder, flags.kubernetes);
  const release = await withShelf(flags, world, (shelf) => chosenRelease(shelf, source, flags.release, world.signal));
  const { metadata } = release;
  const now = buildRelease(source, {
    clusterStack: metadata.clusterStack,
    clusterAddon: metadata.clusterAddon,
    nodeImage: metadata.nodeImage ?? metadata.clusterStack,
  });
  const changes = changesBetween(await layersOf(release.files), await layersOf(now.files));
  if (metadata.kubernetes !== now.kubernetes) world.print(`Kubernetes: ${metadata.kubernetes} → ${now.kubernetes}`);
  for (const layer of new Set(changes.map((change) => change.layer))) {
    world.print(`${layer}:`);
    for (const change of changes.filter((each) => each.layer === layer)) world.print(`  ${changeText(change)}`);
  }
  if (changes.length > 0 || metadata.kubernetes !== now.kubernetes) return 1;
  world.print(`${folder} is the same as ${release.name}`);
  return 0;
}

const signs = { added: '+', removed: '-', changed: '~' } as const;

const changeText = ({ what, path, line }: Change): string =>
  `${signs[what]} ${path === '' ? 'the file' : path}${line === undefined ? '' : `, from line ${line} on`}`;

async function chosenRelease(
  shelf: ReleaseShelf,
  source: SourceTree,
  wanted: string,
  signal: AbortSignal,
): Promise<KnownRelease> {
  if (wanted.includes('/')) return readRelease(await readFolder(wanted), wanted);
  if (wanted !== '') return shelf.read(wanted, signal);
  const newest = await newestOn(shelf, source.prefix, signal);
  if (newest !== undefined) return newest;
  throw new StackError(`${shelf.address} has no release ${source.prefix}-vN; set --release to another one`);
}

async function runLint(folder: string, args: readonly string[], world: StackWorld): Promise<number> {
  const flags = readFlags(lintFlags, args);
  const files = await readFolder(folder);
  const findings =
    files.has('metadata.yaml') && !files.has('csctl.yaml')
      ? await releaseFindings(readRelease(files, folder), folder, flags, world)
      : await sourceFindings(readSource(files, flags.kubernetes || undefined), flags, world);
  for (const { where, problem } of findings) world.print(`${where}: ${problem}`);
  if (findings.length > 0) return 1;
  world.print(`${folder}: no findings`);
  return 0;
}

async function sourceFindings(
  source: SourceTree,
  flags: FlagValues<typeof lintFlags>,
  world: StackWorld,
): Promise<readonly Finding[]> {
  return withScratch((scratch) => {
    const searchPath = world.environment.PATH;
    const renderer = new HelmRenderer({ program: flags.helm, scratch, searchPath });
    return lintSource(source, { renderer, scratch, signal: world.signal });
  });
}

/** A release is compared with those beside it, or in the repository. */
async function releaseFindings(
  release: KnownRelease,
  folder: string,
  flags: FlagValues<typeof lintFlags>,
  world: StackWorld,
): Promise<readonly Finding[]> {
  const siblings = { ...flags, output: dirname(resolve(folder)) };
  return withShelf(siblings, world, async (shelf, isFolder) => {
    const names = (await shelf.names(world.signal)).filter(
      (name) => name.startsWith(`${release.prefix}-v`) && !(isFolder && name === basename(resolve(folder))),
    );
    const others: KnownRelease[] = [];
    for (const name of names) others.push(await shelf.read(name, world.signal));
    return lintRelease(release, others);
  });
}

async function sourceIn(folder: string, minor: string): Promise<SourceTree> {
  return readSource(await readFolder(folder), minor === '' ? undefined : minor);
}

async function newestOn(shelf: ReleaseShelf, prefix: string, signal: AbortSignal): Promise<KnownRelease | undefined> {
  const newest = newestStable(prefix, await shelf.names(signal));
  return newest === undefined ? undefined : shelf.read(newest, signal);
}

async function withShelf<T>(
  flags: FlagValues<typeof pushFlags> & { readonly output: string },
  world: StackWorld,
  work: (shelf: ReleaseShelf, isFolder: boolean) => Promise<T>,
): Promise<T> {
  const access = await accessOf(flags, world);
  if (access === undefined) return work(folderShelf(flags.output), true);
  return withScratch((scratch) => work(sourceShelf(world.open(access).source, scratch), false));
}

async function withScratch<T>(work: (scratch: string) => Promise<T>): Promise<T> {
  const scratch = await mkdtemp(join(tmpdir(), 'steward-stack-'));
  try {
    return await work(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function accessOf(
  flags: FlagValues<typeof pushFlags>,
  { environment }: StackWorld,
): Promise<RepositoryAccess | undefined> {
  const repository = flags.repository || (environment.OCI_REPOSITORY ?? '');
  if (repository === '') return undefined;
  const { OCI_USERNAME: username, OCI_PASSWORD: password, OCI_ACCESS_TOKEN: token } = environment;
  const file = flags['ca-file'];
  return {
    repository,
    plainHttp: flags['plain-http'],
    ...(file !== '' && { certificateAuthority: await readFile(file, 'utf8') }),
    ...(token !== undefined && token !== '' && { credentials: { token } }),
    ...(username !== undefined && password !== undefined && { credentials: { username, password } }),
  };
}

/** The time of the release: that of its sources where a build says it (https://reproducible-builds.org/specs/source-date-epoch), else now. */
function createdAt({ environment, now }: StackWorld): string {
  const seconds = environment.SOURCE_DATE_EPOCH ?? '';
  const date = /^\d+$/.test(seconds) ? new Date(Number(seconds) * 1000) : now();
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}
