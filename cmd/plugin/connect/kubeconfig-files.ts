import { readFileSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { KubeconfigError } from '../../../api/kubeconfig.ts';
import { failureCode } from '../../../runtime/observe/describe-failure.ts';
import type { World } from '../frame/world.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A named entry of a kubeconfig. */
interface Entry {
  readonly name: string;
  /** The file that it is in. */
  readonly file: string;
  readonly value: Fields;
}

/** What the kubeconfig files say together: of entries with the same name the first counts, as for kubectl. */
export interface KubeconfigFiles {
  readonly currentContext: string;
  readonly clusters: readonly Entry[];
  readonly users: readonly Entry[];
  readonly contexts: readonly Entry[];
}

/** Fields with paths, which are relative to the folder of their file. */
const paths = {
  clusters: ['certificate-authority'],
  users: ['client-certificate', 'client-key', 'tokenFile'],
  contexts: [],
} as const;
const singular = { clusters: 'cluster', users: 'user', contexts: 'context' } as const;

/** The files that kubectl would read: the named one, those of $KUBECONFIG, or ~/.kube/config. */
export function kubeconfigPaths(
  named: string | undefined,
  world: Pick<World, 'environment' | 'home'>,
): readonly string[] {
  if (named !== undefined) return [named];
  const listed = (world.environment.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  return listed.length > 0 ? listed : [join(world.home, '.kube', 'config')];
}

/**
 * Reads and merges the files. Undefined if none exists; a file that was named has to exist.
 * @throws KubeconfigError, which never repeats the content of a file.
 */
export function readKubeconfigFiles(
  named: string | undefined,
  world: Pick<World, 'environment' | 'home'>,
): KubeconfigFiles | undefined {
  const files = kubeconfigPaths(named, world).flatMap((path) => readFile(path, named !== undefined));
  if (files.length === 0) return undefined;
  const merged = (list: keyof typeof paths): readonly Entry[] => {
    const all = files.flatMap((file) => file[list]);
    return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index);
  };
  return {
    currentContext: files.map(({ currentContext }) => currentContext).find((name) => name !== '') ?? '',
    clusters: merged('clusters'),
    users: merged('users'),
    contexts: merged('contexts'),
  };
}

function readFile(path: string, required: boolean): readonly KubeconfigFiles[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (failureCode(error) === 'ENOENT' && !required) return [];
    throw new KubeconfigError(`kubeconfig ${path}: cannot be read`, { cause: error });
  }
  return [parseKubeconfigFile(text, path)];
}

function parseKubeconfigFile(text: string, path: string): KubeconfigFiles {
  const where = `kubeconfig ${path}`;
  // An empty file is an empty kubeconfig.
  const fields = parseYaml(text, where) ?? {};
  if (!isFields(fields)) throw new KubeconfigError(`${where}: not a map; expected kind: Config`);
  const current = fields['current-context'];
  const entries = (list: keyof typeof paths): readonly Entry[] => entriesOf(fields, list, { path, where });
  return {
    currentContext: typeof current === 'string' ? current : '',
    clusters: entries('clusters'),
    users: entries('users'),
    contexts: entries('contexts'),
  };
}

/** The library's own messages quote the text, which may hold a key. */
function parseYaml(text: string, where: string): unknown {
  const document = parseDocument(text, { logLevel: 'silent' });
  const [first] = document.errors;
  if (first !== undefined)
    throw new KubeconfigError(`${where}: not YAML at line ${first.linePos?.[0].line ?? '?'} (${first.code})`);
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw new KubeconfigError(`${where}: YAML with aliases; write each entry in full`);
  }
}

/** An entry that cannot be read is refused: otherwise it would be missing later without an error. */
function entriesOf(
  document: Fields,
  list: keyof typeof paths,
  { path, where }: { readonly path: string; readonly where: string },
): readonly Entry[] {
  const given = document[list] ?? [];
  if (!Array.isArray(given)) throw new KubeconfigError(`${where}: ${list} is not a list`);
  const folder = dirname(resolve(path));
  const entries = (given as readonly unknown[]).map((entry, index): Entry => {
    const name = isFields(entry) ? entry.name : undefined;
    if (!isFields(entry) || typeof name !== 'string' || name === '')
      throw new KubeconfigError(`${where}: ${list}[${index}] has no name`);
    const value = entry[singular[list]] ?? {};
    if (!isFields(value))
      throw new KubeconfigError(`${where}: ${list}[${index}] "${name}": ${singular[list]} is not a map`);
    const absolute = paths[list].flatMap((field) => {
      const file = value[field];
      return typeof file === 'string' && file !== '' && !isAbsolute(file) ? [[field, join(folder, file)]] : [];
    });
    return { name, file: path, value: { ...value, ...(Object.fromEntries(absolute) as Fields) } };
  });
  const twice = entries.find(({ name }, index) => entries.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined)
    throw new KubeconfigError(`${where}: ${list} has two entries named "${twice.name}"; kubectl refuses that, too`);
  return entries;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
