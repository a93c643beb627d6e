import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { kinds } from '../../../api/core/kinds.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { consoleBlocks } from '../../../e2e/framework/console-blocks.ts';
import { resolveTools } from '../../../e2e/tools/resolve.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import type { ReadSecret } from '../../../stores/driver.ts';
import { secretReader } from '../../../stores/secret-reader.ts';
import { startApiServer } from '../../servers/api-server.ts';
import { serverFolder } from '../../servers/server-folder.ts';

const run = promisify(execFile);

/** A how-to page of a store, as a reader has it who brings a server along. */
export interface OwnStore {
  /** Name of the page in `docs/how-to`; the commands are under its heading that begins with "Bring your own". */
  readonly page: string;
  /** Folders of the programs that its commands call, besides kubectl. */
  readonly programs: readonly string[];
  /** How these programs find the server. */
  readonly environment: Readonly<Record<string, string>>;
  /** Files that the reader has at hand, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** Where the server is, in place of the page's addresses. */
  readonly endpoints: readonly string[];
}

/** The page's commands and DataStore, with an API server behind them. */
export interface OwnStorePage extends AsyncDisposable {
  /** Runs the next block of commands; throws what it printed when it fails or when there is none. */
  runNext(): Promise<void>;
  readonly dataStore: DataStore;
  /** Reads the Secrets that the commands made. */
  readonly read: ReadSecret;
}

/** Starts a real API server with the namespace `steward-system` and opens the page. */
export async function openOwnStorePage(own: OwnStore): Promise<OwnStorePage> {
  const markdown = await readFile(join(import.meta.dirname, '../../../docs/how-to', `${own.page}.md`), 'utf8');
  const blocks = consoleBlocks(markdown).filter(({ heading }) => heading.startsWith('Bring your own'));
  const [, manifest = ''] = /```yaml\n([\s\S]*?)```/.exec(markdown.slice(markdown.indexOf('## Bring your own'))) ?? [];
  const described = parse(manifest) as DataStore;
  const { kubectl } = await resolveTools(['kubectl']);
  const server = await startApiServer();
  const folder = await serverFolder();
  const cluster = openCluster(parseKubeconfig(server.kubeconfig), { name: 'management' });
  for (const [name, text] of Object.entries(own.files ?? {})) await writeFile(join(folder.path, name), text);
  const metadata = { name: 'steward-system' };
  await cluster.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata });
  const PATH = [...own.programs, dirname(kubectl), '/usr/bin', '/bin'].join(':');
  return {
    dataStore: { ...described, spec: { ...described.spec, endpoints: [...own.endpoints] } },
    read: secretReader((key) => cluster.get(kinds.Secret, key)),
    async runNext() {
      const block = blocks.shift();
      if (block === undefined)
        throw new Error(`docs/how-to/${own.page}.md has no more commands for a store of one's own`);
      const env = { ...own.environment, PATH, KUBECONFIG: server.kubeconfigPath };
      await run('bash', ['--norc', '-euo', 'pipefail', '-c', block.commands], { cwd: folder.path, env });
    },
    async [Symbol.asyncDispose]() {
      await cluster.close();
      await server.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}
