import { resolveTools } from './resolve.ts';
import { toolPins } from './pins.ts';
import type { WantedReleases } from './pins.ts';

const usage =
  'usage: node e2e/tools/main.ts [--kubernetes <minor or version>] [--etcd <minor or version>] [--cluster-api <minor or version>] [names…]   (without names: every tool that is not by name only)';

const parse = (words: readonly string[]): WantedReleases & { readonly names: readonly string[] } => {
  const names: string[] = [];
  let kubernetes: string | undefined;
  let etcd: string | undefined;
  let clusterApi: string | undefined;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    if (word === '--kubernetes') kubernetes = words[++index];
    else if (word === '--etcd') etcd = words[++index];
    else if (word === '--cluster-api') clusterApi = words[++index];
    else if (word.startsWith('-')) throw new Error(`"${word}" is no option; ${usage}`);
    else names.push(word);
  }
  return { names, kubernetes, etcd, clusterApi };
};

const usual = (releases: WantedReleases): readonly string[] =>
  toolPins(releases)
    .filter(({ byNameOnly }) => byNameOnly !== true)
    .map(({ name }) => name);

try {
  const { names, ...releases } = parse(process.argv.slice(2));
  const wanted = names.length > 0 ? names : usual(releases);
  const paths = await resolveTools(wanted, {
    ...releases,
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  for (const name of wanted) process.stdout.write(`${name}\t${paths[name] ?? ''}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
