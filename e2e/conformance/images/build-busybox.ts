import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensurePackages, runProgram } from '../../tools/debian-packages.ts';
import type { RunProgram } from '../../tools/debian-packages.ts';
import { errorReason } from '../../tools/error-reason.ts';

const compiler = ['gcc', 'libc6-dev', 'make', 'bzip2'] as const;

/**
 * Where Debian has sources: its configured mirrors, in a list of their own, because systems usually configure binaries alone.
 * Sources are verified like packages.
 */
async function sourceOptions(folder: string, execute: RunProgram): Promise<readonly string[]> {
  const words = ['indextargets', '--format', '$(SITE) $(RELEASE) $(COMPONENT)', 'Created-By: Packages'];
  const mirrors = await execute('apt-get', [...words, 'Origin: Debian', 'Component: main']);
  const list = join(folder, 'sources.list');
  await writeFile(
    list,
    mirrors
      .trim()
      .split('\n')
      .map((mirror) => `deb-src ${mirror}\n`)
      .join(''),
  );
  const lists = join(folder, 'lists');
  await mkdir(join(lists, 'partial'), { recursive: true });
  const settings = { sourcelist: list, sourceparts: '-' };
  return [
    ...Object.entries(settings).flatMap(([name, value]) => ['-o', `Dir::Etc::${name}=${value}`]),
    ...['-o', `Dir::State::lists=${lists}`],
  ];
}

async function compile(folder: string, execute: RunProgram): Promise<string> {
  const source = join(folder, 'source');
  await mkdir(source);
  const archive = (await readdir(folder)).find((file) => /^busybox_.*\.orig\.tar\.bz2$/.test(file));
  if (archive === undefined) throw new Error('apt-get source left no archive of its authors');
  await execute('tar', ['-xjf', join(folder, archive), '-C', source, '--strip-components=1']);
  const make = (...words: readonly string[]): Promise<string> => execute('make', ['-C', source, '-s', ...words]);
  await make('defconfig');
  // tc is written for kernels before 6.8.
  await execute('sed', [
    '-i',
    's/^# CONFIG_STATIC is not set/CONFIG_STATIC=y/; s/^CONFIG_TC=y/CONFIG_TC=n/',
    join(source, '.config'),
  ]);
  await make('-j2', 'busybox');
  return join(source, 'busybox');
}

/**
 * The path of a static busybox as its authors configure it, like the one in its published image, built below `into` unless it is
 * there. Debian's own has a patch by which the shell drops variables such as `data-1`, for which tests look. Throws with the remedy
 * when it cannot be built.
 */
export async function buildBusybox(
  into: string,
  tell: (line: string) => void,
  execute: RunProgram = runProgram,
): Promise<string> {
  const program = join(into, 'busybox');
  if (existsSync(program)) return program;
  await ensurePackages(compiler, tell, execute);
  tell('building busybox from the source of Debian’s package, without its patches');
  const scratch = `${program}.part`;
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true });
  try {
    const options = await sourceOptions(scratch, execute);
    await execute('apt-get', [...options, 'update', '-qq']);
    // apt-get puts it into its working directory and has no option for another.
    const download = 'cd "$0" && exec apt-get "$@"';
    await execute('sh', ['-c', download, scratch, ...options, 'source', '-qq', '--download-only', 'busybox']);
    await rename(await compile(scratch, execute), program);
    return program;
  } catch (error) {
    const remedy = `It takes a Debian system with internet and the packages ${compiler.join(' ')}.`;
    throw new Error(`busybox could not be built: ${errorReason(error)}. ${remedy}`, { cause: error });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
