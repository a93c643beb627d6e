import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../e2e/tools/debian-packages.ts';
import { aptGet } from '../../e2e/tools/apt-get.ts';

/** What is downloaded, and how apt is to be set up for it. */
export interface DebsToDownload {
  readonly packages: readonly string[];
  /** Options of apt.conf. */
  readonly options: Readonly<Record<string, string>>;
}

/**
 * Downloads Debian packages with a state of apt's own below `folder`: the system learns of no other architecture and of no other Debian.
 * Returns the paths of the files.
 */
export async function downloadDebs(folder: string, { packages, options }: DebsToDownload): Promise<readonly string[]> {
  const [lists, cache, debs] = [join(folder, 'lists'), join(folder, 'cache'), join(folder, 'debs')];
  for (const each of [join(lists, 'partial'), join(cache, 'archives/partial'), debs])
    await mkdir(each, { recursive: true });
  const all = { 'APT::Sandbox::User': 'root', 'Dir::State::Lists': lists, 'Dir::Cache': cache, ...options };
  const given = Object.entries(all).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await aptGet([...given, 'update', '-qq'], runProgram);
  // apt-get puts them into its working directory and has no option for another.
  await runProgram('sh', ['-c', 'cd "$0" && exec apt-get "$@"', debs, ...given, 'download', '-qq', ...packages]);
  return (await readdir(debs)).map((name) => join(debs, name));
}
