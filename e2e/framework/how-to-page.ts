import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { runCommand } from '../cluster/machines/run-command.ts';
import { consoleBlocks } from './console-blocks.ts';
import type { ConsoleBlock } from './console-blocks.ts';

const root = path.join(import.meta.dirname, '../..');

/** What a reader has besides kubectl and bash. */
export interface Reader {
  /** Paths of programs, each under the name by which it is called. */
  readonly programs?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  /** Where the shell begins; in this repository unless said. */
  readonly folder?: string;
}

/** A page of `docs` whose commands are run as a reader would run them: in this repository, with kubectl and bash. */
export class HowToPage {
  readonly #cluster: ManagementCluster;
  readonly #untried: ConsoleBlock[];
  readonly #reader: Reader;

  constructor(cluster: ManagementCluster, blocks: readonly ConsoleBlock[], reader: Reader = {}) {
    this.#cluster = cluster;
    this.#untried = [...blocks];
    this.#reader = reader;
  }

  /** Headings of commands that were not run yet, each as often as it has blocks. */
  get untried(): readonly string[] {
    return this.#untried.map(({ heading }) => heading);
  }

  /**
   * Runs the next block under a heading and returns what it printed.
   * @throws Error when the page has none left there, CommandError when a command fails.
   */
  async run(heading: string): Promise<string> {
    const at = this.#untried.findIndex((block) => block.heading === heading);
    const [block] = at < 0 ? [] : this.#untried.splice(at, 1);
    if (block === undefined) throw new Error(`The page has no commands left under "${heading}"`);
    const { harness, machine, kubeconfig } = this.#cluster;
    const { programs = [], variables = {}, folder = root } = this.#reader;
    const folders = [
      path.join(harness.folder, 'bin', machine.record.kubernetes),
      ...programs.map((program) => path.dirname(program)),
    ];
    const { stdout } = await runCommand('bash', ['--norc', '-euo', 'pipefail', '-c', block.commands], {
      title: `the commands under "${heading}"`,
      env: {
        ...environment(),
        PATH: [...folders, process.env.PATH ?? ''].join(path.delimiter),
        KUBECONFIG: kubeconfig,
        ...variables,
      },
      cwd: folder,
      timeoutMs: 360_000,
      signal: harness.signal,
      diagnose: () => this.#cluster.diagnose('steward-system'),
    });
    return stdout;
  }
}

/** Opens a page of `docs/how-to` by its name, such as `datastore-etcd`. */
export async function openHowTo(cluster: ManagementCluster, name: string, reader: Reader = {}): Promise<HowToPage> {
  return openPage(cluster, path.join('how-to', name), reader);
}

/** Opens a page of `docs/tutorial` by its name. */
export async function openTutorial(cluster: ManagementCluster, name: string, reader: Reader = {}): Promise<HowToPage> {
  return openPage(cluster, path.join('tutorial', name), reader);
}

async function openPage(cluster: ManagementCluster, name: string, reader: Reader): Promise<HowToPage> {
  const markdown = await readFile(path.join(root, 'docs', `${name}.md`), 'utf8');
  return new HowToPage(cluster, consoleBlocks(markdown), reader);
}

function environment(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
