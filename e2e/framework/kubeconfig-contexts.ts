import { readFile, writeFile } from 'node:fs/promises';

import { parse, stringify } from 'yaml';

interface Named<Key extends string> {
  readonly name: string;
  readonly [key: string]: unknown;
  readonly key?: Key;
}

interface Kubeconfig {
  readonly clusters: readonly Named<'cluster'>[];
  readonly users: readonly Named<'user'>[];
}

/**
 * Writes one kubeconfig with a context for each of several, under the names given; the first is the current one.
 * @param kubeconfigs paths of files with one cluster and one user each, by context.
 */
export async function writeContexts(file: string, kubeconfigs: Readonly<Record<string, string>>): Promise<void> {
  const parts = await Promise.all(
    Object.entries(kubeconfigs).map(async ([name, path]) => {
      const { clusters, users } = parse(await readFile(path, 'utf8')) as Kubeconfig;
      return {
        cluster: { ...clusters[0], name },
        user: { ...users[0], name },
        context: { name, context: { cluster: name, user: name } },
      };
    }),
  );
  const merged = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: parts.map(({ cluster }) => cluster),
    users: parts.map(({ user }) => user),
    contexts: parts.map(({ context }) => context),
    'current-context': Object.keys(kubeconfigs)[0],
  };
  await writeFile(file, stringify(merged), { mode: 0o600 });
}
